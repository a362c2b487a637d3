import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A use of a proof that is accepted only once: a write with a plain proof, or the nonce of a bound proof. It is kept for as long as the
 * proof is valid.
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
