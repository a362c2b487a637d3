import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A recover signature that opened a session, by its request hash. Kept for as long as it is fresh. */
@Entity({ tableName: 'signature_use' })
export class SignatureUse {
  @PrimaryKey({ type: 'text' })
  requestHash!: string;
  @Index({ name: 'signature_use_forget' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  forgetAt!: Date;
}
