//! Logs, and traces for whoever has an OpenTelemetry collector.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::Config;

/// Sends what is left when it is dropped.
pub(crate) struct Telemetry {
    provider: Option<SdkTracerProvider>,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(provider) = &self.provider {
            // A collector that is away must not keep the process from ending.
            let _ = provider.shutdown_with_timeout(std::time::Duration::from_secs(2));
        }
    }
}

/// Logs go to standard error. `quiet` is the level of a command whose own output matters more.
pub(crate) fn start(config: &Config, quiet: &str) -> Result<Telemetry> {
    let wanted = if config.log == "info" { quiet } else { &config.log };
    // The MCP library tells every message that it sees, and of a refused one what it says; whoever wants that names it.
    let filter = if wanted.contains("rmcp") { wanted.to_owned() } else { format!("{wanted},rmcp=warn,rmcp::service=error") };
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("BERESTA_LOG: `{wanted}` is not a log filter such as info or platform=debug"))?;
    // Colours are for people; a file gets plain text.
    let has_colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(has_colours);
    let lines = if config.is_log_json {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
    } else {
        lines.with_target(false).compact().boxed()
    };
    let provider = config.otlp_endpoint.as_deref().map(otlp).transpose()?;
    let spans = provider.as_ref().map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer("beresta")));
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(spans.with_filter(EnvFilter::new("info")))
        .try_init()
        .context("logging was started twice")?;
    Ok(Telemetry { provider })
}

fn otlp(endpoint: &str) -> Result<SdkTracerProvider> {
    let url = format!("{endpoint}/v1/traces");
    // Its client starts a runtime of its own, which must not happen inside ours.
    let exporter = std::thread::spawn(move || SpanExporter::builder().with_http().with_endpoint(url).build())
        .join()
        .map_err(|_| anyhow::anyhow!("the OpenTelemetry exporter panicked"))?
        .context("OpenTelemetry cannot be started")?;
    let resource = Resource::builder().with_service_name("beresta").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}
