import { ObjectType } from 'type-graphql';
import { PublicExportNoun } from '../../../schema/book/export.ts';
import type { EmptyReason } from '../../../schema/book/export-document.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * A published export. It is built and signed when it is published or refreshed, and afterwards only read, so that a read costs the
 * same for any size of book. A book has at most one. Withdrawing it deletes it with its slug. The slug is stored before the build,
 * but is served only once `signed` is set.
 */
@ObjectType({
  description: 'A signed export that anyone can read by its slug. It has the rows as they were when it was built.',
})
@Entity({ tableName: 'pull_export' })
export class PullExport {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;

  @Property({ type: 'text' })
  @Unique({ name: 'pull_export_slug' })
  slug!: string;

  @Property({ type: 'Date', columnType: 'timestamptz' })
  publishedAt!: Date;

  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  exportedAt!: Date;

  @Property({ type: 'integer', nullable: true })
  rowCount!: number;

  @Property({ type: 'boolean', nullable: true })
  complete!: boolean;

  @Property({ type: 'boolean', nullable: true })
  truncated!: boolean | null;

  @Property({ type: 'integer', nullable: true })
  matchingCount!: number | null;

  @Property({ type: 'text', nullable: true })
  emptyReason!: EmptyReason | null;

  /** The whole response as JSON text. */
  @Property({ type: 'text', nullable: true })
  signed!: string;

  @Property({ type: 'text', nullable: true })
  csv!: string;
}
showMembers(PullExport, PublicExportNoun);
