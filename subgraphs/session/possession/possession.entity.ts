import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * A session secret as it is kept: found by its hash. The sealed box beside it is opened for one purpose only, to check
 * a book proof: an HMAC keyed with the session itself cannot be checked from a hash.
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
