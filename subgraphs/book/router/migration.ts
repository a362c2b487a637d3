import { Migration } from '../../migration.ts';

/** Router books, what was broadcast to each, what of it was verified, and how often what nobody pays for was used. */
export class RouterBooks extends Migration {
  override up(): void {
    this.addSql(`
      create table router_book (
        book_id varchar(40) primary key, agent_id integer null, label varchar(120) null, key_hash varchar(64) not null,
        router_key_box bytea null, router_key_set_at timestamptz null, opened_at timestamptz not null,
        constraint router_book_key unique (key_hash));

      create table router_generation (
        book_id varchar(40) not null, generation_id varchar(128) not null, task_id varchar(64) not null,
        model varchar(200) not null, amount numeric(78,0) not null, rail varchar(32) not null,
        payment_ref varchar(256) null, verified_with varchar(255) null, reported_at timestamptz not null,
        primary key (book_id, generation_id));

      create table router_sum (
        book_id varchar(40) not null, rail varchar(32) not null, count integer not null, amount numeric(78,0) not null,
        primary key (book_id, rail));

      create table router_use (
        holder varchar(80) not null, period timestamptz not null, uses integer not null,
        primary key (holder, period));
      create index router_use_period on router_use (period);
    `);
  }
}
