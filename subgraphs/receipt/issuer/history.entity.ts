import 'reflect-metadata';
import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { PublicKeys } from './snapshot.ts';

/** What both histories have in common: see `Version`. Rows are added only; the database refuses all else. */
abstract class VersionRow {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  version!: number;

  @Property({ type: 'text', unique: true })
  hash!: string;

  /** Canonical JSON, verbatim. */
  @Property({ type: 'text' })
  document!: string;

  @Property({ type: 'text', nullable: true })
  previousHash!: string | null;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  activatedAt!: Date;
}

/** One version of the issuer's keys: see `Snapshot`. */
@Entity({ tableName: 'issuer_snapshot' })
export class IssuerSnapshotRow extends VersionRow {
  @Property({ type: 'json', columnType: 'jsonb' })
  keys!: PublicKeys;

  @Property({ type: 'text' })
  jws!: string;
}

/** A key that was revoked: see `Revocation`. */
@Entity({ tableName: 'issuer_revocation' })
export class IssuerRevocationRow extends VersionRow {
  @Property({ type: 'text' })
  jws!: string;
}

/** One version of the policy that governs receipts. */
@Entity({ tableName: 'receipt_policy' })
export class ReceiptPolicyRow extends VersionRow {}
