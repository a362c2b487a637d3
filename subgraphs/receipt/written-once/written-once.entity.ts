import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A write under an Idempotency-Key that nobody paid for: here from the transaction that wrote, with its answer once that is known. */
@Entity({ tableName: 'written_once' })
export class WrittenOnce {
  /** Of the credential and the Idempotency-Key: nobody else's key meets it, and neither stands here. */
  @PrimaryKey({ type: 'text' })
  mark!: string;
  /** Of the credential alone, or of the address where none came along: its room is counted by it. */
  @Index({ name: 'written_once_by_credential' })
  @Property({ type: 'text' })
  credentialMark!: string;
  /** SHA-256 over endpoint and body. */
  @Property({ type: 'text' })
  requestHash!: string;
  /** Which of several requests under the key it was that wrote. */
  @Property({ type: 'text' })
  attempt!: string;
  @Index({ name: 'written_once_at' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  writtenAt!: Date;
  /** Sealed; null where none is known, or it is too long to be kept. */
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
}
