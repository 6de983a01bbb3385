//! A sender of alerts that remembers what it was given, and a runner of the job that tells.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use platform::{
    Db,
    alerts::{self, AlertMessage, AlertSender, AlertSource, AlertTarget, AlertTeller},
    jobs::{JobError, Registry, Runner},
};

/// What targets were told, in order.
#[derive(Clone, Debug, Default)]
pub struct ToldAlerts {
    told: Arc<Mutex<Vec<(AlertTarget, AlertMessage)>>>,
    refused: Arc<Mutex<Option<String>>>,
}

impl ToldAlerts {
    /// A runner that tells through this sender; links begin with `https://console.test`.
    pub fn runner(&self, db: &Db, sources: &[AlertSource]) -> Runner {
        let mut registry = Registry::new();
        let teller = AlertTeller {
            db: db.clone(),
            sources: sources.to_vec(),
            public_url: Some("https://console.test".to_owned()),
            sender: Arc::new(self.clone()),
        };
        alerts::register(&mut registry, teller);
        Runner::new(db.clone(), registry, "test".to_owned())
    }

    /// From now on targets of this kind fail; none if absent.
    pub fn refuse(&self, kind: Option<&str>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = kind.map(ToOwned::to_owned);
    }

    /// The texts that went to an address.
    pub fn at(&self, address: &str) -> Vec<String> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.iter().filter(|(target, _)| target.address == address).map(|(_, message)| message.text.clone()).collect()
    }

    pub fn all(&self) -> Vec<(AlertTarget, AlertMessage)> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl AlertSender for ToldAlerts {
    fn send<'a>(
        &'a self,
        target: &'a AlertTarget,
        message: &'a AlertMessage,
    ) -> Pin<Box<dyn Future<Output = Result<(), JobError>> + Send + 'a>> {
        Box::pin(async move {
            if self.refused.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&target.kind) {
                return Err(JobError::retry("refused"));
            }
            self.told.lock().unwrap_or_else(PoisonError::into_inner).push((target.clone(), message.clone()));
            Ok(())
        })
    }
}
