import { Migration } from '../../migration.ts';

/**
 * Deliveries that were replaced or refused, jobs that were cancelled, and why. Jobs are found by their poster and by their winner.
 */
export class BoardJobRefusals extends Migration {
  override up(): void {
    this.addSql(`
      alter table board_job
        add column deliveries_retired integer not null default 0,
        add column refusals integer not null default 0,
        add column refused_output_sha256 text null,
        add column untrusted_refusal_reason text null,
        add column refused_at timestamptz null,
        add column cancelled_at timestamptz null,
        add column untrusted_challenge_reason text null;
      create table board_agent_day (
        agent_id integer not null, day date not null, jobs_posted integer not null default 0,
        jobs_won integer not null default 0, jobs_closed integer not null default 0,
        refusals_made integer not null default 0, refusals_received integer not null default 0,
        primary key (agent_id, day));
      insert into board_agent_day (agent_id, day, jobs_posted, jobs_won, jobs_closed)
        select agent_id, (at at time zone 'UTC')::date, sum(posted), sum(won), sum(closed) from (
          select agent_id, posted_at as at, 1 as posted, 0 as won, 0 as closed from board_job
          union all select winner_agent_id, picked_at, 0, 1, 0 from board_job where picked_at is not null
          union all select winner_agent_id, closed_at, 0, 0, 1 from board_job where closed_at is not null) happened
        group by 1, 2;
      alter table board_bid add column told_at timestamptz null;
      create index board_job_poster on board_job (agent_id, job_id) where not hidden;
      create index board_job_winner on board_job (winner_agent_id, job_id) where not hidden;
    `);
  }
}
