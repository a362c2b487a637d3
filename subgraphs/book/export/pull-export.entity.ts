import { ObjectType } from 'type-graphql';
import { PublicExportNoun } from '../../../schema/book/export.ts';
import type { EmptyReason } from '../../../schema/book/export-document.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * An export that its owner has published: built and signed at publish or refresh, and then only read, so that a stranger's
 * look costs the same whatever the book's age. One of each book; withdrawn it is gone, and its slug with it. Its slug is there before it is
 * built: it is read only once it is `signed`.
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

  /** The whole answer as JSON text. */
  @Property({ type: 'text', nullable: true })
  signed!: string;

  @Property({ type: 'text', nullable: true })
  csv!: string;
}
showMembers(PullExport, PublicExportNoun);
