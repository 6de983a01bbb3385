//! `beresta simulate`: the providers, simulated.

use std::{net::SocketAddr, process::ExitCode};

use anyhow::{Context, Result};
use simulators::Simulators;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::asked_to_stop;

pub(crate) async fn run(listen: SocketAddr) -> Result<ExitCode> {
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}; choose another address with --listen"))?;
    let base = format!("http://{}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let serving = tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
    let asked_to_stop = asked_to_stop()?;
    println!("beresta simulates on {base}");
    println!("  Telegram  BERESTA_TELEGRAM_BASE_URL={base}/telegram");
    println!("  MAX       BERESTA_MAX_BASE_URL={base}/max");
    println!("  Gemini    {base}/gemini/v1beta");
    println!("  OpenAI    {base}/openai/v1");
    println!("  web site  {base}/web");
    println!("  control   GET {base}/control/sent?provider=telegram");
    asked_to_stop.await;
    stop.cancel();
    serving.await?;
    Ok(ExitCode::SUCCESS)
}
