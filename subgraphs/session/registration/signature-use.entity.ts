import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A recover signature that has opened a session, by the hash of its text. It is kept for as long as the signature is fresh. */
@Entity({ tableName: 'signature_use' })
export class SignatureUse {
  @PrimaryKey({ type: 'text' })
  requestHash!: string;
  @Index({ name: 'signature_use_forget' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  forgetAt!: Date;
}
