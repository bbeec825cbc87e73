// Lets the migrations of this package run one at a time: TypeORM lets two processes that start together migrate together.

/** Names "the migrations of this package" among a database's advisory locks. */
export const MIGRATION_LOCK = 7_236_450_104;
