import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * A stored session secret, found by its hash. The sealed copy is opened only to check proofs, because an HMAC keyed by the session
 * cannot be checked from a hash.
 */
@Entity({ tableName: 'possession' })
@Unique({ name: 'possession_live', properties: ['agentId'], where: 'ended_at is null' })
@Index({ name: 'possession_agent', properties: ['agentId'] })
export class PossessionRecord {
  @PrimaryKey({ type: 'text' })
  sessionHash!: string;
  @Property({ type: 'blob' })
  sessionBox!: Buffer;
  @Property({ type: 'integer' })
  agentId!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  issuedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
