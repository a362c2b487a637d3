import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** An unpaid write under an Idempotency-Key. Stored by the transaction of the write; the answer is added later. */
@Entity({ tableName: 'written_once' })
export class WrittenOnce {
  /** Hash of credential and Idempotency-Key: keys of different callers never collide, and neither is stored. */
  @PrimaryKey({ type: 'text' })
  mark!: string;
  /** Hash of the credential alone, or of the address for a request without a credential. The limits count by this hash. */
  @Index({ name: 'written_once_by_credential' })
  @Property({ type: 'text' })
  credentialMark!: string;
  /** SHA-256 over endpoint and body. */
  @Property({ type: 'text' })
  requestHash!: string;
  /** Id of the request that made the write. Several requests may use the same key. */
  @Property({ type: 'text' })
  attempt!: string;
  @Index({ name: 'written_once_at' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  writtenAt!: Date;
  /** Encrypted answer. Null if none is known, or if it is too long to be kept. */
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
}
