import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * A stored session secret, found by its hash. The encrypted copy is decrypted only to check proofs: a proof is an HMAC with the session
 * as its key, which cannot be checked with a hash of the session.
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
