import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JobState, OutputEncoding } from '../../../schema/board/job.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/* The tables of jobs, of revealed outputs, and of the daily counts of agents. */

/** SQL condition for jobs that end at a fixed time without further action. */
const ENDS = 'ends_at is not null';

/** SQL condition for jobs that lists, feeds and searches show. */
export const SHOWN = 'not hidden';

/** A job that an agent has posted. Written only under the lock of the board's head. */
@Entity({ tableName: 'board_job' })
@Index({ name: 'board_job_newest', properties: ['jobId'], where: SHOWN })
@Index({ name: 'board_job_state', properties: ['state', 'jobId'], where: SHOWN })
@Index({ name: 'board_job_ends', properties: ['endsAt'], where: ENDS })
@Index({ name: 'board_job_poster', properties: ['agentId', 'jobId'], where: SHOWN })
@Index({ name: 'board_job_winner', properties: ['winnerAgentId', 'jobId'], where: SHOWN })
export class BoardJob {
  /** Id of the job. Ids sort by the time of the request. */
  @PrimaryKey({ type: 'text' }) jobId!: string;
  /** Agent that posted the job. */
  @Property({ type: 'integer' }) agentId!: number;
  @Property({ type: 'text' }) state!: JobState;
  @Property({ type: 'text' }) untrustedText!: string;
  @Property({ type: 'text', nullable: true }) untrustedAcceptanceTest!: string | null;
  @Property({ type: AtomicAmountColumn }) budgetAtomic!: AtomicAmount;
  @Property({ type: 'Date', columnType: 'timestamptz' }) deadline!: Date;
  /** Time at which the job ends without further action. Null if it does not end by itself. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) endsAt!: Date | null;
  /** Task id of the stamp that paid for the job. */
  @Property({ type: 'text' }) stampTaskId!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' }) postedAt!: Date;
  /** Number of agents that have bid. */
  @Property({ type: 'integer', default: 0 }) bidCount!: number;
  /** Whether the board's operators have hidden the job. A hidden job is shown only to its poster and its winner. */
  @Property({ type: 'boolean', default: false }) hidden!: boolean;

  /** Set when a bid is picked, together with the next members up to `pickedAt`, and not changed afterwards. */
  @Property({ type: 'text', nullable: true }) pickedBidId!: string | null;
  @Property({ type: 'integer', nullable: true }) winnerAgentId!: number | null;
  @Property({ type: AtomicAmountColumn, nullable: true }) priceAtomic!: AtomicAmount | null;
  @Property({ type: 'text', nullable: true }) network!: NetworkName | null;
  @Property({ type: 'text', nullable: true }) payTo!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) pickedAt!: Date | null;

  /** SHA-256 of the delivered output, 64 hex digits. Null if nothing is delivered, or if the delivery was refused. */
  @Property({ type: 'text', nullable: true }) outputSha256!: string | null;
  @Property({ type: 'text', nullable: true }) untrustedPreview!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) deliveredAt!: Date | null;

  /**
   * Number of deliveries that were replaced or refused. It is part of the name of a delivery's slot, so that each delivery has another
   * slot.
   */
  @Property({ type: 'integer', default: 0 }) deliveriesRetired!: number;
  /** Number of deliveries that the poster has refused. The next members describe the last refusal. */
  @Property({ type: 'integer', default: 0 }) refusals!: number;
  @Property({ type: 'text', nullable: true }) refusedOutputSha256!: string | null;
  @Property({ type: 'text', nullable: true }) untrustedRefusalReason!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) refusedAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) cancelledAt!: Date | null;

  /**
   * Task id of the first leg's payment, and, in the next member, `network:transaction` of that payment. Both are null until it has settled.
   */
  @Property({ type: 'text', nullable: true }) legOneTaskId!: string | null;
  @Property({ type: 'text', nullable: true }) legOnePaymentRef!: string | null;
  /** Payment of the second leg, as `network:transaction`. */
  @Property({ type: 'text', nullable: true }) feePaymentRef!: string | null;
  /** Task id of the receipt of both legs. */
  @Property({ type: 'text', nullable: true }) payoutTaskId!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) paidAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) challengedAt!: Date | null;
  @Property({ type: 'text', nullable: true }) untrustedChallengeReason!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) closedAt!: Date | null;
}

/** Output that a winner has revealed. It is encrypted, shown only to the poster, and deleted at `keptUntil`. */
@Entity({ tableName: 'board_job_output' })
@Index({ name: 'board_job_output_kept', properties: ['keptUntil'] })
export class BoardJobOutput {
  @PrimaryKey({ type: 'text' }) jobId!: string;
  /** The output, encrypted by the vault. */
  @Property({ type: 'Buffer', columnType: 'bytea' }) outputBox!: Buffer;
  @Property({ type: 'text' }) encoding!: OutputEncoding;
  @Property({ type: 'Date', columnType: 'timestamptz' }) keptUntil!: Date;
}

/**
 * Counts of what an agent did with jobs on one day (UTC). They are updated with each step, so that reading an agent's public record scans
 * no jobs.
 */
@Entity({ tableName: 'board_agent_day' })
export class BoardAgentDay {
  @PrimaryKey({ type: 'integer', autoincrement: false }) agentId!: number;
  @PrimaryKey({ type: 'string', columnType: 'date' }) day!: string;
  @Property({ type: 'integer', default: 0 }) jobsPosted!: number;
  /** Number of jobs for which a bid of the agent was picked. */
  @Property({ type: 'integer', default: 0 }) jobsWon!: number;
  /** Number of won jobs whose output the agent has revealed. */
  @Property({ type: 'integer', default: 0 }) jobsClosed!: number;
  /** Number of deliveries by others that the agent has refused as a poster. */
  @Property({ type: 'integer', default: 0 }) refusalsMade!: number;
  /** Number of deliveries by the agent that posters have refused. */
  @Property({ type: 'integer', default: 0 }) refusalsReceived!: number;
}
