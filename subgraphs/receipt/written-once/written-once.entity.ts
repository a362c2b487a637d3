import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** An unpaid write under an Idempotency-Key. Stored by the transaction that wrote, later with its answer. */
@Entity({ tableName: 'written_once' })
export class WrittenOnce {
  /** Hash of credential and Idempotency-Key: keys of different callers never collide, and neither is stored. */
  @PrimaryKey({ type: 'text' })
  mark!: string;
  /** Hash of the credential alone, or of the address without one: its limit is counted by it. */
  @Index({ name: 'written_once_by_credential' })
  @Property({ type: 'text' })
  credentialMark!: string;
  /** SHA-256 over endpoint and body. */
  @Property({ type: 'text' })
  requestHash!: string;
  /** Id of the request that wrote, of several under the key. */
  @Property({ type: 'text' })
  attempt!: string;
  @Index({ name: 'written_once_at' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  writtenAt!: Date;
  /** Sealed; null if none is known, or it is too long to be kept. */
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
}
