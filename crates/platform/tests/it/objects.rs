//! Objects come back as they were, stay in their workspace, and have a limit.

use bytes::Bytes;
use kernel::{Secret, WorkspaceId};
use platform::objects::{Error, OBJECT_BYTES_MAX, Objects, Place, S3};

fn files() -> (Objects, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Objects::open(&Place::Files { dir: dir.path().join("objects") }).unwrap(), dir)
}

/// An S3 server on a real socket, which checks signatures.
async fn s3() -> (Objects, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("letters")).unwrap();
    let mut builder = s3s::service::S3ServiceBuilder::new(s3s_fs::FileSystem::new(dir.path()).unwrap());
    builder.set_auth(s3s::auth::SimpleAuth::from_single("key", "secret"));
    let service = builder.build();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let io = hyper_util::rt::TokioIo::new(stream);
            let service = service.clone();
            tokio::spawn(async move { hyper::server::conn::http1::Builder::new().serve_connection(io, service).await });
        }
    });
    (Objects::open(&Place::S3(place(&endpoint, "secret"))).unwrap(), dir)
}

fn place(endpoint: &str, secret: &str) -> S3 {
    S3 {
        bucket: "letters".into(),
        prefix: "beresta".into(),
        region: "us-east-1".into(),
        endpoint: Some(endpoint.into()),
        access_key_id: "key".into(),
        secret_access_key: Secret::new(secret),
    }
}

async fn promises(objects: &Objects) {
    let (ours, theirs) = (WorkspaceId::new(), WorkspaceId::new());
    let body = Bytes::from("береста\0\n".repeat(100_000));
    objects.put(ours, "media/letter.bin", body.clone()).await.unwrap();
    assert_eq!(objects.get(ours, "media/letter.bin").await.unwrap(), body);
    assert!(matches!(objects.get(theirs, "media/letter.bin").await, Err(Error::NotFound(_))));
    objects.put(ours, "media/letter.bin", "new".into()).await.unwrap();
    assert_eq!(objects.get(ours, "media/letter.bin").await.unwrap(), "new");
    objects.delete(ours, "media/letter.bin").await.unwrap();
    objects.delete(ours, "media/letter.bin").await.unwrap();
    assert!(matches!(objects.get(ours, "media/letter.bin").await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn objects_in_files_keep_their_promises() {
    let (objects, _dir) = files();
    promises(&objects).await;
}

#[tokio::test]
async fn objects_in_s3_keep_their_promises() {
    choose_crypto();
    let (objects, dir) = s3().await;
    promises(&objects).await;
    let ours = WorkspaceId::new();
    objects.put(ours, "a/b", "x".into()).await.unwrap();
    assert!(dir.path().join(format!("letters/beresta/{ours}/a/b")).exists());
}

#[tokio::test]
async fn a_name_that_leads_out_of_its_workspace_is_refused() {
    let (objects, _dir) = files();
    let long = "x".repeat(513);
    for key in ["", "/", "..", "../x", "a/../../x", "a//b", "/etc/passwd", "a/./b", "a\0b", "ж", "a b", "%2e%2e/x", &long] {
        let refused = objects.put(WorkspaceId::new(), key, "x".into()).await;
        assert!(matches!(refused, Err(Error::BadKey { .. })), "{key:?}");
    }
}

#[tokio::test]
async fn an_object_over_the_limit_is_refused() {
    let (objects, _dir) = files();
    let refused = objects.put(WorkspaceId::new(), "x", Bytes::from(vec![0; OBJECT_BYTES_MAX + 1])).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })));
}

#[tokio::test]
async fn storage_that_does_not_answer_is_a_problem_that_passes_and_tells_no_secret() {
    choose_crypto();
    // Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let objects = Objects::open(&Place::S3(place(&format!("http://127.0.0.1:{port}"), "hunter2"))).unwrap();
    let error = objects.get(WorkspaceId::new(), "x").await.unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let problem = kernel::Problem::from(error);
    assert_eq!((problem.status, problem.retryable), (503, true));
}

/// The HTTP client of the object store is built without a default for TLS.
fn choose_crypto() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}
