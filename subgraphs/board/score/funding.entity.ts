import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * State of the search for a payer's funders. `unknown`: the search was given up without a result. Such a payer is not merged with others,
 * and it counts.
 */
export type FundingState = 'pending' | 'known' | 'unknown';

/** Funders of a payer before its first post. They are searched for once, and the result is stored for good. */
@Entity({ tableName: 'board_funding' })
@Index({ name: 'board_funding_pending', properties: ['lookedAt'], where: "state = 'pending'" })
export class BoardFunding {
  /** Address of the payer on Base, lower case. */
  @PrimaryKey({ type: 'text' })
  payer!: string;
  @Property({ type: 'text' })
  state!: FundingState;
  /** Searched range of blocks, both ends included. Null before the search. */
  @Property({ type: 'integer', nullable: true })
  fromBlock!: number | null;
  @Property({ type: 'integer', nullable: true })
  toBlock!: number | null;
  /**
   * `[{funder, amount, funded_wallets}]`: address in lower case, digits of atomic USDC, number of wallets. Null before the search has a
   * result.
   */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  funders!: readonly JsonObject[] | null;
  @Property({ type: 'integer', default: 0 })
  tries!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  lookedAt!: Date;
}

/** Position in the board's events up to which payers were queued. The table has one row. */
@Entity({ tableName: 'board_funding_head' })
export class BoardFundingHead {
  @PrimaryKey({ type: 'text' })
  name!: string;
  @Property({ type: 'bigint' })
  position!: number;
}
