import { KEY_OVERLAP_SECONDS } from '../../../schema/key-times.ts';
import { Migration } from '../../migration.ts';

/**
 * Keys that were revoked; and the database itself takes no leaf and no refusal by a key that signs no more, whichever process
 * still has its seed. Every batch of leaves writes one head, and names its key in it.
 */
export class KeyRevocations extends Migration {
  override up(): void {
    this.addSql(`
      create table issuer_revocation (
        version integer primary key, hash text not null constraint issuer_revocation_hash_unique unique,
        document text not null, previous_hash text null, activated_at timestamptz(3) not null, jws text not null);
      create trigger issuer_revocation_append_only before update or delete or truncate on issuer_revocation
        for each statement execute function refuse_history_change();

      create function refuse_ended_key() returns trigger language plpgsql as $$
        begin
          if exists (select 1 from issuer_revocation where document::jsonb->>'kid' = new.kid) then
            raise exception 'the key % was revoked, and signs no more', new.kid;
          end if;
          if exists (
            select 1 from issuer_snapshot own join issuer_snapshot next on next.version = own.version + 1
            where own.keys#>>'{es256,kid}' = new.kid
              and next.activated_at < clock_timestamp() - interval '${KEY_OVERLAP_SECONDS} seconds') then
            raise exception 'the key % was retired, and signs no more', new.kid;
          end if;
          return new;
        end $$;
      create trigger tree_head_key before insert on tree_head for each row execute function refuse_ended_key();
      create trigger refusal_key before insert on refusal for each row execute function refuse_ended_key();
    `);
  }
}
