import 'reflect-metadata';
import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { PublicKeys } from './snapshot.ts';

/** Columns that all histories have: see `Version`. Rows are only added; the database refuses every other change. */
abstract class VersionRow {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  version!: number;

  @Property({ type: 'text', unique: true })
  hash!: string;

  /** The document as canonical JSON, byte for byte. */
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

/** One revocation of a key: see `Revocation`. */
@Entity({ tableName: 'issuer_revocation' })
export class IssuerRevocationRow extends VersionRow {
  @Property({ type: 'text' })
  jws!: string;
}

/** One version of the policy that governs receipts. */
@Entity({ tableName: 'receipt_policy' })
export class ReceiptPolicyRow extends VersionRow {}
