import { Migration } from '@mikro-orm/migrations';

/** Signed refusals are only ever added. */
export class RefusalTables extends Migration {
  override up(): void {
    this.addSql(`create table refusal (
      refusal_id text primary key, agent_id integer not null, book_seq bigint not null, refusal_code text not null,
      policy_code text not null, payload text not null, jws text not null, kid text not null, value text not null,
      issued_at timestamptz(3) not null, constraint refusal_row unique (agent_id, book_seq))`);
  }
}
