//! Faults planted into the database of knowledge, to see that the checker finds them.

use anyhow::Result;
use clap::ValueEnum;
use sqlx::PgPool;

use crate::chaos::plant::rewrite;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchivePlant {
    /// Addresses, fetches and bytes of a page stay when the last message that shares it is forgotten
    ForgetWithoutBlobs,
    /// An edit writes over the old chunks, and a vector is stored for whatever its chunk says by now
    EmbedAfterEdit,
}

pub(super) async fn install(db: &PgPool, plant: ArchivePlant) -> Result<()> {
    match plant {
        ArchivePlant::ForgetWithoutBlobs => {
            let begin = "begin\n    select array_agg(f.blob_object_id)";
            let noop = "begin\n    return;\n    select array_agg(f.blob_object_id)";
            rewrite(db, "knowledge.drop_unreferenced_blobs", begin, noop).await
        }
        ArchivePlant::EmbedAfterEdit => {
            let join = "(c.workspace_id, c.id, c.index_md5) = (p_workspace_id, g.chunk_id, g.index_md5)";
            rewrite(db, "knowledge.store_embeddings", join, "(c.workspace_id, c.id) = (p_workspace_id, g.chunk_id)").await?;
            rewrite(db, "knowledge.store_embeddings", "select c.id, g.index_md5, g.vector", "select c.id, c.index_md5, g.vector")
                .await?;
            let delete = "delete from kg.chunks where (workspace_id, document_id) = (p_workspace_id, document.id);";
            rewrite(db, "knowledge.index_message", delete, "").await
        }
    }
}
