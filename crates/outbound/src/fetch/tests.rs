//! The promises of the fetcher, over real sockets and with a resolver that says what the test wants.

use std::{
    io::Write,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{Path, Request},
    http::{HeaderMap as Headers, StatusCode},
    response::IntoResponse,
    routing::{get, post},
};
use tokio::net::TcpListener;

use super::*;

/// A server on loopback; gives its port.
async fn serve(router: Router) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

fn allowing(allow: &[String]) -> FetchSettings {
    FetchSettings { allow: allow.to_vec(), deadline: Duration::from_secs(20), ..FetchSettings::default() }
}

/// A resolver with these answers: each name and the addresses it has.
fn names(answers: &[(&str, &[&str])]) -> Lookup {
    let answers: HashMap<String, Vec<String>> = answers
        .iter()
        .map(|(name, addresses)| ((*name).to_owned(), addresses.iter().map(|address| (*address).to_owned()).collect()))
        .collect();
    Arc::new(move |host, port| {
        let found = answers.get(&host).cloned();
        Box::pin(async move {
            let found = found.ok_or_else(|| std::io::Error::other("no such name"))?;
            Ok(found.iter().map(|address| SocketAddr::new(address.parse().unwrap(), port)).collect())
        })
    })
}

async fn fetch(fetcher: &Fetcher, url: &str) -> Result<Fetched, FetchError> {
    fetcher.fetch(url, &FetchRequest::default()).await
}

fn loopback(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

#[tokio::test]
async fn only_http_on_listed_ports_without_credentials_and_of_bounded_length() {
    let fetcher = Fetcher::new(FetchSettings::default()).unwrap();
    let long = format!("http://example.org/{}", "x".repeat(2048));
    let grows = format!("http://example.org/{}", "\u{436}".repeat(700));
    let bad = [
        ("ftp://example.org/", "http://"),
        ("file:///etc/passwd", "http://"),
        ("gopher://example.org/", "http://"),
        ("javascript:alert(1)", "http://"),
        ("data:text/plain,x", "http://"),
        ("example.org", "not an address"),
        ("", "not an address"),
        ("http://", "not an address"),
        ("http://example.org:22/", "port 22"),
        ("https://example.org:6379/", "port 6379"),
        ("http://user@example.org/", "no user name"),
        ("http://user:secret@example.org/", "no user name"),
        (&long, "2048 bytes"),
        (&grows, "2048 bytes"),
    ];
    for (url, expected) in bad {
        let error = fetch(&fetcher, url).await.unwrap_err();
        assert!(matches!(error, FetchError::Invalid(_)), "{url}: {error:?}");
        assert!(error.to_string().contains(expected) && !error.to_string().contains("secret"), "{url}: {error}");
        assert!(!error.is_retryable());
    }
    for url in ["http://example.org", "https://example.org:8443/x#y", "http://example.org:8080/?a=b"] {
        fetcher.check(url).unwrap();
    }
}

#[tokio::test]
async fn every_spelling_of_an_inner_address_is_refused_before_a_connection_is_made() {
    let fetcher = Fetcher::with_lookup(FetchSettings::default(), names(&[])).unwrap();
    let inner = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://2130706433/",
        "http://0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[fd00:ec2::254]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://\u{2460}27.0.0.1/",
        "http://127.0.0.1./",
        "http:\\\\127.0.0.1\\",
        "http://localhost/",
        "http://LocalHost./",
        "http://metadata.google.internal/",
        "http://intranet/",
        "http:10.0.0.1",
        " http://192.168.0.1/",
        "http://1\n0.0.0.1/",
    ];
    for url in inner {
        let error = fetch(&fetcher, url).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused(_)), "{url}: {error:?}");
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_name_is_refused_when_any_one_of_its_addresses_is_inside() {
    let answers = names(&[
        ("mixed.example.org", &["93.184.215.14", "10.0.0.7"]),
        ("mixed6.example.org", &["93.184.215.14", "fe80::1"]),
        ("inside.example.org", &["127.0.0.1"]),
        ("mapped.example.org", &["::ffff:169.254.169.254"]),
        ("ours.example.org", &["93.184.215.99"]),
        ("nowhere.example.org", &[]),
    ]);
    let settings = FetchSettings { refuse: vec!["93.184.215.99".into(), "db.example.org".into()], ..FetchSettings::default() };
    let fetcher = Fetcher::with_lookup(settings, answers).unwrap();
    for name in ["mixed", "mixed6", "inside", "mapped", "ours", "db"] {
        let error = fetch(&fetcher, &format!("http://{name}.example.org/")).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused(_)), "{name}: {error:?}");
    }
    for name in ["nowhere", "absent"] {
        let error = fetch(&fetcher, &format!("http://{name}.example.org/")).await.unwrap_err();
        assert!(matches!(error, FetchError::Unreachable(_)) && error.is_retryable(), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn blocked_closed_and_absent_read_the_same() {
    let open = serve(Router::new().route("/", get(|| async { "inside" }))).await;
    // Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let closed = socket.local_addr().unwrap().port();
    let settings = FetchSettings { ports: vec![open], ..allowing(&[loopback(closed)]) };
    let fetcher = Fetcher::with_lookup(settings, names(&[])).unwrap();
    let blocked = fetch(&fetcher, &format!("http://127.0.0.1:{open}/")).await.unwrap_err();
    let closed = fetch(&fetcher, &format!("http://127.0.0.1:{closed}/")).await.unwrap_err();
    let absent = fetch(&fetcher, &format!("http://absent.example.org:{open}/")).await.unwrap_err();
    assert_eq!(blocked.to_string(), closed.to_string());
    assert_eq!(blocked.to_string(), absent.to_string());
    assert!(blocked.reason().contains("loopback") && absent.reason().contains("no such name"));
}

#[tokio::test]
async fn the_connection_goes_to_the_judged_address_although_the_name_means_another_one_by_then() {
    let port =
        serve(Router::new().route("/", get(|headers: Headers| async move { headers["host"].to_str().unwrap().to_owned() })))
            .await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let rebinding: Lookup = Arc::new(move |_, port| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        let address = if first { [127, 0, 0, 1] } else { [127, 0, 0, 99] };
        Box::pin(std::future::ready(Ok(vec![SocketAddr::from((address, port))])))
    });
    let fetcher = Fetcher::with_lookup(allowing(&[format!("feeds.example.org:{port}")]), rebinding).unwrap();
    let page = fetch(&fetcher, &format!("http://FEEDS.example.org:{port}/")).await.unwrap();
    assert_eq!(page.body, format!("feeds.example.org:{port}"));
    assert_eq!(asked.load(Ordering::SeqCst), 1, "one judgment for one connection");
}

#[tokio::test]
async fn an_allowed_address_is_that_host_and_that_port_only() {
    let allowed = serve(Router::new().route("/", get(|| async { "news" }))).await;
    let other = serve(Router::new().route("/", get(|| async { "secrets" }))).await;
    let settings = FetchSettings { ports: vec![allowed, other], ..allowing(&[loopback(allowed)]) };
    let fetcher = Fetcher::with_lookup(settings, names(&[("alias.example.org", &["127.0.0.1"])])).unwrap();
    assert_eq!(fetch(&fetcher, &format!("http://127.1:{allowed}/")).await.unwrap().body, "news");
    for url in [format!("http://127.0.0.1:{other}/"), format!("http://alias.example.org:{allowed}/")] {
        assert!(matches!(fetch(&fetcher, &url).await.unwrap_err(), FetchError::Refused(_)), "{url}");
    }
}

#[tokio::test]
async fn lists_that_cannot_be_read_are_refused_with_the_entry() {
    for entry in ["feeds.lan", "http://feeds.lan:80", "feeds.lan:http", "user@feeds.lan:80", "feeds.lan:80/x", ":80", ""] {
        let error = Fetcher::new(allowing(&[entry.to_owned()])).unwrap_err().to_string();
        assert!(error.contains("host:port"), "{entry}: {error}");
    }
    for entry in ["feeds.lan:80", "[::1]:8080", "10.0.0.1:9000"] {
        Fetcher::new(allowing(&[entry.to_owned()])).unwrap();
    }
    let refuse = FetchSettings { refuse: vec!["a b".into()], ..FetchSettings::default() };
    assert!(Fetcher::new(refuse).unwrap_err().to_string().contains("host name"));
}

/// Redirects as many times as the path says, then answers.
async fn hop(Path(left): Path<usize>) -> axum::response::Response {
    match left {
        0 => "there".into_response(),
        left => (StatusCode::FOUND, [("location", format!("{}", left - 1))]).into_response(),
    }
}

#[tokio::test]
async fn five_redirects_are_followed_and_a_sixth_is_not() {
    let port = serve(Router::new().route("/{left}", get(hop))).await;
    let fetcher = Fetcher::new(allowing(&[loopback(port)])).unwrap();
    let page = fetch(&fetcher, &format!("http://127.0.0.1:{port}/5")).await.unwrap();
    assert_eq!((&page.body[..], page.final_url), (&b"there"[..], format!("http://127.0.0.1:{port}/0")));
    let error = fetch(&fetcher, &format!("http://127.0.0.1:{port}/6")).await.unwrap_err();
    assert_eq!(error, FetchError::Redirects { redirects_max: 5 });
}

#[tokio::test]
async fn a_redirect_is_judged_like_an_address_from_outside() {
    let inside = serve(Router::new().route("/", get(|| async { "secrets" }))).await;
    let to = |location: String| get(move || async move { (StatusCode::MOVED_PERMANENTLY, [("location", location)]) });
    let outside = Router::new()
        .route("/loopback", to(format!("http://127.0.0.1:{inside}/")))
        .route("/metadata", to("http://169.254.169.254/latest/".into()))
        .route("/scheme", to("file:///etc/passwd".into()))
        .route("/port", to("http://example.org:25/".into()))
        .route("/user", to("http://a:b@example.org/".into()))
        .route("/nonsense", to("http://[".into()))
        .route("/nowhere", get(|| async { StatusCode::FOUND }));
    let port = serve(outside).await;
    let settings = FetchSettings { ports: vec![80, inside], ..allowing(&[loopback(port)]) };
    let fetcher = Fetcher::with_lookup(settings, names(&[])).unwrap();
    for path in ["loopback", "metadata", "scheme", "port", "user", "nonsense", "nowhere"] {
        let error = fetch(&fetcher, &format!("http://127.0.0.1:{port}/{path}")).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused(_)), "{path}: {error:?}");
    }
}

/// The names of the headers that arrived, in order.
async fn echo(request: Request) -> String {
    let mut names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names.join(" ")
}

#[tokio::test]
async fn credentials_and_cookies_stay_behind_when_a_redirect_leads_to_another_host() {
    let other = serve(Router::new().route("/", get(echo))).await;
    let to = |location: String| {
        get(move || async move { (StatusCode::FOUND, [("location", location), ("set-cookie", "a=b".into())]) })
    };
    let first = Router::new()
        .route("/same", to("/".into()))
        .route("/other", to(format!("http://127.0.0.1:{other}/")))
        .route("/", get(echo));
    let port = serve(first).await;
    let fetcher = Fetcher::new(allowing(&[loopback(port), loopback(other)])).unwrap();
    let request = FetchRequest {
        headers: vec![
            ("authorization".into(), "Bearer x".into()),
            ("x-api-key".into(), "x".into()),
            ("accept".into(), "text/xml".into()),
        ],
        etag: Some("\"1\"".into()),
        ..FetchRequest::default()
    };
    let same = fetcher.fetch(&format!("http://127.0.0.1:{port}/same"), &request).await.unwrap();
    assert_eq!(same.body, "accept accept-encoding authorization host if-none-match user-agent x-api-key");
    let other = fetcher.fetch(&format!("http://127.0.0.1:{port}/other"), &request).await.unwrap();
    assert_eq!(other.body, "accept accept-encoding host if-none-match user-agent");
}

#[tokio::test]
async fn headers_that_the_client_sets_itself_and_broken_ones_are_refused_without_their_value() {
    let fetcher = Fetcher::new(FetchSettings::default()).unwrap();
    for (name, value) in
        [("Host", "hush"), ("content-length", "hush"), ("x y", "hush"), ("x", "hush\r\nb: c"), ("Cookie", "hush")]
    {
        let request = FetchRequest { headers: vec![(name.into(), value.into())], ..FetchRequest::default() };
        let error = fetcher.fetch("http://example.org/", &request).await.unwrap_err();
        assert!(matches!(error, FetchError::Invalid(_)) && !error.to_string().contains("hush"), "{name}: {error:?}");
    }
}

fn gzip(bytes: usize) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b'x'; bytes]).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_its_length_by_its_stream_and_after_decompression() {
    let endless = || async { Body::from_stream(futures::stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(500)))) };
    let bomb = || async { ([("content-encoding", "gzip")], gzip(10 << 20)) };
    let small = || async { ([("content-encoding", "gzip")], gzip(1000)) };
    let router = Router::new()
        .route("/long", get(|| async { "x".repeat(2000) }))
        .route("/endless", get(endless))
        .route("/bomb", get(bomb))
        .route("/small", get(small));
    let port = serve(router).await;
    let fetcher = Fetcher::new(allowing(&[loopback(port)])).unwrap();
    let request = FetchRequest { body_bytes_max: 1000, ..FetchRequest::default() };
    for path in ["long", "endless", "bomb"] {
        let error = fetcher.fetch(&format!("http://127.0.0.1:{port}/{path}"), &request).await.unwrap_err();
        assert_eq!(error, FetchError::TooLarge { bytes_max: 1000 }, "{path}");
    }
    let page = fetcher.fetch(&format!("http://127.0.0.1:{port}/small"), &request).await.unwrap();
    assert_eq!(page.body.len(), 1000);
}

#[tokio::test]
async fn headers_over_the_limit_are_refused() {
    let port = serve(Router::new().route("/", get(|| async { ([("x-long", "x".repeat(70_000))], "") }))).await;
    let fetcher = Fetcher::new(allowing(&[loopback(port)])).unwrap();
    let error = fetch(&fetcher, &format!("http://127.0.0.1:{port}/")).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { .. } | FetchError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn the_deadline_covers_the_name_the_redirects_and_a_body_that_trickles() {
    let trickle = || async {
        Body::from_stream(futures::stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Some((Ok::<_, std::io::Error>("x"), ()))
        }))
    };
    let silent = || async { std::future::pending::<()>().await };
    let port = serve(Router::new().route("/trickle", get(trickle)).route("/silent", get(silent))).await;
    let never: Lookup = Arc::new(|_, _| Box::pin(std::future::pending()));
    let settings = FetchSettings { deadline: Duration::from_millis(200), ..allowing(&[loopback(port)]) };
    let fetcher = Fetcher::with_lookup(settings, never).unwrap();
    for url in
        [format!("http://127.0.0.1:{port}/trickle"), format!("http://127.0.0.1:{port}/silent"), "http://example.org/".into()]
    {
        let error = fetch(&fetcher, &url).await.unwrap_err();
        assert_eq!((&error, error.is_retryable()), (&FetchError::Timeout, true), "{url}");
    }
}

#[tokio::test]
async fn an_unchanged_page_answers_304_and_any_other_failure_is_a_status() {
    let conditional = |headers: Headers| async move {
        let known = headers.get("if-none-match").is_some_and(|tag| tag == "\"v1\"");
        let status = if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        (status, [("etag", "\"v1\""), ("last-modified", "Mon, 02 Mar 2026 09:00:00 GMT"), ("content-type", "text/xml")], "news")
    };
    let router = Router::new()
        .route("/", get(conditional))
        .route("/gone", get(|| async { StatusCode::GONE }))
        .route("/busy", get(|| async { (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")]) }));
    let port = serve(router).await;
    let fetcher = Fetcher::new(allowing(&[loopback(port)])).unwrap();
    let first = fetch(&fetcher, &format!("http://127.0.0.1:{port}/")).await.unwrap();
    assert_eq!((first.status, first.etag.as_deref(), first.content_type.as_deref()), (200, Some("\"v1\""), Some("text/xml")));
    let request = FetchRequest { etag: first.etag, last_modified: first.last_modified, ..FetchRequest::default() };
    let second = fetcher.fetch(&format!("http://127.0.0.1:{port}/"), &request).await.unwrap();
    assert_eq!((second.status, second.body.len()), (304, 0));
    let gone = fetch(&fetcher, &format!("http://127.0.0.1:{port}/gone")).await.unwrap_err();
    assert_eq!((&gone, gone.is_retryable()), (&FetchError::Status { status: 410, retry_after: None }, false));
    let busy = fetch(&fetcher, &format!("http://127.0.0.1:{port}/busy")).await.unwrap_err();
    assert_eq!(
        (&busy, busy.is_retryable()),
        (&FetchError::Status { status: 429, retry_after: Some(Duration::from_secs(7)) }, true)
    );
}

#[tokio::test]
async fn one_host_is_asked_a_few_times_at_once_and_the_others_wait() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now_in, most_in) = (now.clone(), most.clone());
    let slow = move || {
        let (now, most) = (now_in.clone(), most_in.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }
    };
    let port = serve(Router::new().route("/", get(slow))).await;
    let fetcher = Fetcher::new(FetchSettings { at_once_per_host_max: 2, ..allowing(&[loopback(port)]) }).unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let pages = futures::future::join_all((0..8).map(|_| fetch(&fetcher, &url))).await;
    assert!(pages.iter().all(Result::is_ok));
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

fn body(text: &'static str) -> PostRequest {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned()), ("x-signature".to_owned(), "s".to_owned())];
    PostRequest { headers, body: text.into(), answer_bytes_max: 10 }
}

#[tokio::test]
async fn a_post_gives_any_status_with_the_beginning_of_its_answer_and_follows_no_redirect() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let other = serve(Router::new().fallback(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async {}
    }))
    .await;
    let echo = |headers: Headers, body: String| async move {
        (StatusCode::IM_A_TEAPOT, [("retry-after", "soon")], format!("{} {body}", headers["x-signature"].to_str().unwrap()))
    };
    let elsewhere = move || async move { (StatusCode::TEMPORARY_REDIRECT, [("location", format!("http://127.0.0.1:{other}/"))]) };
    let endless = || async { Body::from_stream(futures::stream::repeat_with(|| Ok::<_, std::io::Error>("xxxx"))) };
    let router = Router::new().route("/", post(echo)).route("/elsewhere", post(elsewhere)).route("/endless", post(endless));
    let port = serve(router).await;
    let fetcher = Fetcher::new(allowing(&[loopback(port), loopback(other)])).unwrap();
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let posted = fetcher.post(&url("/"), body("hello, world")).await.unwrap();
    assert_eq!((posted.status, posted.retry_after.as_deref(), &posted.answer[..]), (418, Some("soon"), &b"s hello, w"[..]));
    assert_eq!(fetcher.post(&url("/elsewhere"), body("x")).await.unwrap().status, 307);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let endless = fetcher.post(&url("/endless"), body("x")).await.unwrap();
    assert_eq!((endless.status, endless.answer.len()), (200, 10));
}

#[tokio::test]
async fn a_post_without_an_answer_says_whether_it_may_have_arrived() {
    let silent = || async { std::future::pending::<()>().await };
    let port = serve(Router::new().route("/silent", post(silent))).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let settings = FetchSettings { deadline: Duration::from_millis(300), ..allowing(&[loopback(port), loopback(closed)]) };
    let fetcher = Fetcher::new(settings).unwrap();
    let cases = [
        (format!("http://127.0.0.1:{port}/silent"), true),
        (format!("http://127.0.0.1:{closed}/"), false),
        ("http://127.0.0.1:8080/".to_owned(), false),
        ("ftp://example.org/".to_owned(), false),
    ];
    for (url, outcome_unknown) in cases {
        let error = fetcher.post(&url, body("x")).await.unwrap_err();
        assert_eq!(error.outcome_unknown, outcome_unknown, "{url}: {error:?}");
    }
    let dropped = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", dropped.local_addr().unwrap());
    tokio::spawn(async move { drop(dropped.accept().await) });
    let fetcher = Fetcher::new(allowing(&[url["http://".len()..url.len() - 1].to_owned()])).unwrap();
    assert!(fetcher.post(&url, body("x")).await.unwrap_err().outcome_unknown, "it was taken, and never answered");
}
