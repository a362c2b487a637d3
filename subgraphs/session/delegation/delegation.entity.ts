import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A session under which a payment was made. The grant never changes, so the sessions above it do not change either. The row exists from
 * the claim of the first payment on. `bound_at` is set when the first payment is recorded.
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
  /** EIP-712 digest of the grant: 0x and 64 hex digits. */
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  /** Wallet that pays, in EIP-55 spelling. */
  @Property({ type: 'text' })
  payer!: string;
  @Property({ type: 'text' })
  agentPubkey!: string;
  /** Address of the agent key, by which signatures are recognised. */
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
  /** Ids of all sessions above this one, root first, followed by its own id. */
  @Property({ type: 'json', columnType: 'jsonb' })
  path!: readonly string[];
  @Property({ type: 'json', columnType: 'jsonb' })
  models!: readonly string[];
  @Property({ type: 'json', columnType: 'jsonb' })
  doors!: readonly string[];
  @Property({ type: 'text' })
  salt!: string;
  /** Signature as it was sent: of the payer or, for a child, of the key of its parent. */
  @Property({ type: 'text' })
  signature!: string;
  /** Amount recorded under this session and all sessions below it, without amounts that open payments hold. */
  @Property({ type: AtomicAmountColumn })
  spentAtomic!: AtomicAmount;
  /** Number of payments recorded under this session and all sessions below it (session-burn.entity.ts). */
  @Property({ type: 'bigint', defaultRaw: '0' })
  burnPosition!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  boundAt!: Date | null;
}
