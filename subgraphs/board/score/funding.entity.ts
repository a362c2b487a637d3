import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** `unknown`: the search had no result in the end. Such a payer is not merged, and is counted. */
export type FundingState = 'pending' | 'known' | 'unknown';

/** Funders of a payer before its first post: searched once, and stored for good. */
@Entity({ tableName: 'board_funding' })
@Index({ name: 'board_funding_pending', properties: ['lookedAt'], where: "state = 'pending'" })
export class BoardFunding {
  /** Its address on Base, lower case. */
  @PrimaryKey({ type: 'text' })
  payer!: string;
  @Property({ type: 'text' })
  state!: FundingState;
  /** Searched range of blocks, both ends included. Null before the search. */
  @Property({ type: 'integer', nullable: true })
  fromBlock!: number | null;
  @Property({ type: 'integer', nullable: true })
  toBlock!: number | null;
  /** `[{funder, amount, funded_wallets}]`: addresses, lower case; amounts are digits of atomic USDC. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  funders!: readonly JsonObject[] | null;
  @Property({ type: 'integer', default: 0 })
  tries!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  lookedAt!: Date;
}

/** Position in the board's events up to which payers were queued. One row. */
@Entity({ tableName: 'board_funding_head' })
export class BoardFundingHead {
  @PrimaryKey({ type: 'text' })
  name!: string;
  @Property({ type: 'bigint' })
  position!: number;
}
