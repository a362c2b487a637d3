import { Migration } from '../../migration.ts';

/** Revocations of delegated sessions, as they are published. */
export class SessionRevocations extends Migration {
  override up(): void {
    this.addSql(`
      create table session_revocation (
        delegation_hash text primary key, payer text not null, at bigint not null, signature text not null,
        revoked_at timestamptz not null);
      create index session_revocation_newest on session_revocation (revoked_at);
    `);
  }
}

/** Numbers them without a gap, so that whoever reads page by page knows that none is missing; and those of grants that no payment had bound. */
export class NumberedRevocations extends Migration {
  override up(): void {
    this.addSql(`
      alter table session_revocation add column seq bigint null;
      update session_revocation r set seq = n.seq from (
        select delegation_hash, row_number() over (order by revoked_at, delegation_hash) as seq from session_revocation) n
        where r.delegation_hash = n.delegation_hash;
      alter table session_revocation alter column seq set not null;
      alter table session_revocation add constraint session_revocation_seq unique (seq);
      drop index session_revocation_newest;
      alter table session_revocation add column unbound boolean not null default false;
      create index session_revocation_unbound on session_revocation (payer) where unbound;
    `);
  }
}

/**
 * The database numbers what comes without a number: also what a process of the version before writes, which runs on while
 * others are started anew, knows of no numbers and locks nothing. One at a time, until its transaction ends.
 */
export class NumbersOfRevocations extends Migration {
  override up(): void {
    this.addSql(`
      create function number_revocation() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock(hashtext('session_revocation'));
          select coalesce(max(seq), 0) + 1 into new.seq from session_revocation;
          return new;
        end $$;
      create trigger session_revocation_number before insert on session_revocation
        for each row when (new.seq is null) execute function number_revocation();
    `);
  }
}
