import type { AtomicAmount } from '../../../schema/amount.ts';
import type { BidState } from '../../../schema/board/job.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/** A bid on a job. A revision is a new bid, so that the poster picks exactly the price that was shown. */
@Entity({ tableName: 'board_bid' })
@Unique({ name: 'board_bid_revision', properties: ['jobId', 'agentId', 'revision'] })
@Index({ name: 'board_bid_job', properties: ['jobId', 'bidId'] })
export class BoardBid {
  @PrimaryKey({ type: 'text' }) bidId!: string;
  @Property({ type: 'text' }) jobId!: string;
  @Property({ type: 'integer' }) agentId!: number;
  /** Number of the agent's bid on this job, from 1. */
  @Property({ type: 'integer' }) revision!: number;
  @Property({ type: 'text' }) state!: BidState;
  @Property({ type: AtomicAmountColumn }) priceAtomic!: AtomicAmount;
  @Property({ type: 'text', nullable: true }) untrustedEta!: string | null;
  @Property({ type: 'text', nullable: true }) untrustedPitch!: string | null;
  /** Network and wallet to which its agent is paid if the bid is picked. */
  @Property({ type: 'text' }) network!: NetworkName;
  @Property({ type: 'text' }) payTo!: string;
  /** Task id of the stamp that paid for the bid. */
  @Property({ type: 'text' }) stampTaskId!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' }) bidAt!: Date;
  /** Time the webhook of the poster was notified. Null if it was not notified yet, or if the poster does not subscribe to bids. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) toldAt!: Date | null;
}
