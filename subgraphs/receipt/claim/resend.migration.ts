import { Migration } from '../../migration.ts';

/**
 * The request of a payment that is being answered once more is not cleared from under it. A process of the version before
 * forgets what is a day old without a look at who works for it: its answer was then delivered, and its charge could be refunded all
 * the same. 180 seconds is `CALL_SECONDS_MAX`. A statement that ends the work itself, as a refund does, passes.
 */
export class RequestsOfResends extends Migration {
  override up(): void {
    this.addSql(`
      create function keep_request_of_resend() returns trigger language plpgsql as $$
        begin
          return null;
        end $$;
      create trigger payment_claim_resend before update of request_box on payment_claim
        for each row when (new.request_box = ''::bytea and new.rerun_at is not distinct from old.rerun_at
          and old.rerun_at > clock_timestamp() - interval '180 seconds')
        execute function keep_request_of_resend();
    `);
  }
}

/**
 * What a process is known to do, by its lease: those of the version before write 0. Of a process that has died it says whether an
 * answer that it worked for could still go out.
 */
export class GenerationsOfProcesses extends Migration {
  override up(): void {
    this.addSql(`alter table process_lease add column generation integer not null default 0;`);
  }
}
