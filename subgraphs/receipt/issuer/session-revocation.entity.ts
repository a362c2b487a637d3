import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/** The end of a delegated session, usually signed by its payer or by a session above it. Published for good. */
@Entity({ tableName: 'session_revocation' })
@Unique({ name: 'session_revocation_seq', properties: ['seq'] })
@Index({ name: 'session_revocation_unbound', properties: ['payer'], where: 'unbound' })
export class SessionRevocation {
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  /** Payer who signed it. Without a signature: the payer of the session. */
  @Property({ type: 'text' })
  payer!: string;
  /** Time that was signed, in Unix seconds. */
  @Property({ type: 'bigint' })
  at!: number;
  /** Null if there is no signature, because the session ended with all others when an operator accepted a break of the log. */
  @Property({ type: 'text', nullable: true })
  signature!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  revokedAt!: Date;
  /** True for a grant that no payment had bound. */
  @Property({ type: 'boolean', default: false })
  unbound!: boolean;
  /** Position among all revocations, from 1 without a gap, in the order in which they took effect. */
  @Property({ type: 'bigint' })
  seq!: number;
}
