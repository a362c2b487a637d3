import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A use of a book proof that cannot be made again: of a plain one a write, of a bound one its nonce. Kept for as long as
 * the proof would pass.
 */
@Entity({ tableName: 'proof_use' })
export class ProofUseRecord {
  @PrimaryKey({ type: 'integer' })
  agentId!: number;
  @PrimaryKey({ type: 'blob' })
  digest!: Buffer;
  @Index({ name: 'proof_use_forget' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  forgetAt!: Date;
}
