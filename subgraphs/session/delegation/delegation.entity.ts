import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A session that a payment was made under. The grant never changes, so who stands over it does not either. Its row is there
 * from the claim of the first payment on, and `bound_at` once one of them is recorded.
 */
@Entity({ tableName: 'delegation' })
@Index({ name: 'delegation_children', properties: ['parentHash', 'sessionExpiry'] })
@Index({ name: 'delegation_path', expression: 'create index delegation_path on delegation using gin (path)' })
@Index({
  name: 'delegation_roots',
  properties: ['payer', 'boundAt', 'delegationHash'],
  where: 'parent_hash is null and bound_at is not null',
})
@Index({ name: 'delegation_unbound', properties: ['createdAt'], where: 'bound_at is null' })
export class Delegation {
  /** The EIP-712 digest of the grant, 0x. */
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  /** In EIP-55 spelling. */
  @Property({ type: 'text' })
  payer!: string;
  @Property({ type: 'text' })
  agentPubkey!: string;
  /** Of the key, by which its signatures are known. */
  @Property({ type: 'text' })
  agentAddress!: string;
  @Property({ type: AtomicAmountColumn })
  capAtomic!: AtomicAmount;
  @Property({ type: 'bigint' })
  validAfter!: number;
  @Property({ type: 'bigint' })
  sessionExpiry!: number;
  @Property({ type: 'text', nullable: true })
  parentHash!: string | null;
  /** Names of all that stand over it, the root first, and its own last. */
  @Property({ type: 'json', columnType: 'jsonb' })
  path!: readonly string[];
  @Property({ type: 'json', columnType: 'jsonb' })
  models!: readonly string[];
  @Property({ type: 'json', columnType: 'jsonb' })
  doors!: readonly string[];
  @Property({ type: 'text' })
  salt!: string;
  /** The payer's, or, of a child, its parent's key's: as it was shown. */
  @Property({ type: 'text' })
  signature!: string;
  /** Recorded under it and all below it; what open payments hold is beside that. */
  @Property({ type: AtomicAmountColumn })
  spentAtomic!: AtomicAmount;
  /** How many payments are recorded under it and all below it: the number of the newest (session-burn.entity.ts). */
  @Property({ type: 'bigint', defaultRaw: '0' })
  burnPosition!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  boundAt!: Date | null;
}
