//! The SQL of posting.

use platform::{install::Module, sql_files};

pub const SQL: Module = Module {
    name: "posting",
    schemas: &["posting"],
    prelude: sql_files!["prelude":
    ],
    migrations: sql_files!["migrations":
    ],
    functions: sql_files!["functions":
    ],
};
