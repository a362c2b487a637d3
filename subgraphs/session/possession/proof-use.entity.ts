import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A use of a proof that cannot be repeated: a write with a plain one, the nonce of a bound one. Kept for as long as the proof is
 * valid.
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
