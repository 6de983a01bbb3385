//! Who calls: the first parameter of every handler here.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, header, request::Parts},
};
use kernel::{Secret, WorkspaceId};
use platform::{
    DbError,
    http::{App, Ctx, Failure, bearer},
    wake::Topic,
};
use uuid::Uuid;

use crate::{
    contract::{Lang, Outcome, Refusal},
    scopes,
};

pub(super) struct ChatCaller {
    pub(super) ctx: Ctx,
    /// Kept for streams, which ask again whether it is good.
    pub(super) token: Secret,
    pub(super) lang: Lang,
    /// Absent when the request did not come through a socket.
    pub(super) address: Option<IpAddr>,
}

impl ChatCaller {
    pub(super) fn workspace(&self) -> WorkspaceId {
        self.ctx.principal.workspace_id
    }

    pub(super) fn may_read(&self) -> Result<(), Failure> {
        self.ctx.require(scopes::WATCH).map_err(Failure)
    }

    pub(super) fn may_write(&self) -> Result<(), Failure> {
        self.ctx.require(scopes::WRITE).map_err(Failure)
    }

    /// The token names the workspace. Whoever names one as well has to name the same; any other is one that does not exist.
    pub(super) fn check_workspace(&self, given: Option<&str>) -> Result<(), Failure> {
        let is_ours = |given: &str| Uuid::parse_str(given).is_ok_and(|given| given == self.workspace().uuid());
        if given.is_none_or(is_ours) { Ok(()) } else { Err(self.refuse(&Refusal::OtherWorkspace)) }
    }

    /// A refusal in the caller's language.
    pub(super) fn refuse(&self, refusal: &Refusal) -> Failure {
        refusal.problem(self.lang).into()
    }

    /// What the database said about this id, in the caller's language.
    pub(super) fn explain(&self, error: DbError, id: &str) -> Failure {
        match Refusal::from_db(error, id) {
            Ok(refusal) => self.refuse(&refusal),
            Err(error) => error.into(),
        }
    }

    /// After the commit: tells whoever watches that there is something new.
    pub(super) fn tell(&self, outcome: Outcome) {
        if outcome.is_news() {
            self.ctx.app.db.wake().tell(Topic::BUS);
        }
    }
}

impl FromRequestParts<App> for ChatCaller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let token = bearer(&parts.headers)?;
        let ctx = Ctx::authenticate(app, &token).await?;
        let language = parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip().to_canonical());
        Ok(Self {
            ctx,
            token,
            lang: language.map(Lang::from_header).unwrap_or_default(),
            address: peer.map(|peer| client(peer, &parts.headers)),
        })
    }
}

/// A proxy on this machine says whom it speaks for, last in the header that it adds to; anybody else speaks for itself.
fn client(peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    if !peer.is_loopback() {
        return peer;
    }
    let last = headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| value.to_str().ok());
    let client = last.and_then(|list| list.rsplit(',').next()).and_then(|address| address.trim().parse().ok());
    client.unwrap_or(peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proxy_on_this_machine_may_speak_for_others() {
        let (local, far) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([203, 0, 113, 9]));
        let mut headers = HeaderMap::new();
        assert_eq!(client(local, &headers), local);
        headers.append("x-forwarded-for", "198.51.100.1, 198.51.100.2".parse().unwrap());
        assert_eq!(client(local, &headers), IpAddr::from([198, 51, 100, 2]));
        assert_eq!(client(far, &headers), far);
        headers.append("x-forwarded-for", "nonsense".parse().unwrap());
        assert_eq!(client(local, &headers), local);
    }
}
