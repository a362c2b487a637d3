import { Field, Int, ObjectType } from 'type-graphql';
import type { EmptyReason } from '../../../schema/export-coverage.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { Entity, PrimaryKey, Property, Unique } from '../../table.ts';
import { EmptyReasonWord } from './export-words.ts';

/**
 * An export that its owner has published: built and signed at publish or refresh, and then only read, so that a stranger's
 * look costs the same whatever the book's age. One of each book; withdrawn it is gone, and its slug with it.
 */
@ObjectType({ description: 'A signed export that anybody may pull by its slug, as it stood when it was built.' })
@Entity({ tableName: 'pull_export' })
export class PullExport {
  @Field(() => Int, { description: 'Whose book.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;

  @Field(() => String, { description: 'GET /public/export/{slug}; random, and another one once it was withdrawn.' })
  @Property({ type: 'text' })
  @Unique({ name: 'pull_export_slug' })
  slug!: string;

  @Field(() => DateTimeScalar, { description: 'When it was published first.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  publishedAt!: Date;

  @Field(() => DateTimeScalar, { description: 'When what is served was built.' })
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  exportedAt!: Date | null;

  @Field(() => Int, { description: 'Rows that stand in it.' })
  @Property({ type: 'integer', nullable: true })
  rowCount!: number | null;

  @Field(() => Boolean, { description: 'Every row of the book stands in it.' })
  @Property({ type: 'boolean', nullable: true })
  complete!: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'True if matching rows are missing from the export, because of limit or because the build ran out of time. Null until the export has been built.',
  })
  @Property({ type: 'boolean', nullable: true })
  truncated!: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Number of rows that match the filter, including those left out of the export. Null until the export has been built, or if the build ran out of time.',
  })
  @Property({ type: 'integer', nullable: true })
  matchingCount!: number | null;

  @Field(() => EmptyReasonWord, { nullable: true, description: 'Why it is empty; null where rows stand in it.' })
  @Property({ type: 'text', nullable: true })
  emptyReason!: EmptyReason | null;

  /** The whole answer as JSON text. */
  @Field(() => String, { description: 'svc402.book_pull_export.v1, byte for byte.' })
  @Property({ type: 'text', nullable: true })
  signed!: string | null;

  @Field(() => String, { description: 'The same rows as CSV.' })
  @Property({ type: 'text', nullable: true })
  csv!: string | null;
}
