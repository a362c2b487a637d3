import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A recovery signature that has opened a session, by the hash of its text, so that it cannot open another. Kept until the signature is no
 * longer valid.
 */
@Entity({ tableName: 'signature_use' })
export class SignatureUse {
  @PrimaryKey({ type: 'text' })
  requestHash!: string;
  @Index({ name: 'signature_use_forget' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  forgetAt!: Date;
}
