import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** That a delegated session is over, in the words of its payer or of one that stands over it: published, and for good. */
@Entity({ tableName: 'session_revocation' })
@Index({ name: 'session_revocation_newest', properties: ['revokedAt'] })
@Index({
  name: 'session_revocation_unbound',
  properties: ['payer', 'unboundUntil'],
  where: 'unbound_until is not null',
})
export class SessionRevocation {
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  /** Who signed it. */
  @Property({ type: 'text' })
  payer!: string;
  /** The time that was signed, Unix seconds. */
  @Property({ type: 'bigint' })
  at!: number;
  @Property({ type: 'text' })
  signature!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  revokedAt!: Date;
  /** Of a grant that no payment had bound: its end, Unix seconds, from which on nothing could bind it, and this is forgotten. */
  @Property({ type: 'bigint', nullable: true })
  unboundUntil!: number | null;
}
