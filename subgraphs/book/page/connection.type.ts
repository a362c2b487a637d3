import { ArgsType, Directive, Field, Int, ObjectType } from 'type-graphql';
import { BookRow } from '../ledger/row.entity.ts';
import { BookRowFilter } from './page-arguments.type.ts';

/* Rows as a connection (https://relay.dev/graphql/connections.htm): newest first, so that what comes next is older. */

@ObjectType({ description: 'What lies beyond a page of a connection.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether older rows follow.' }) hasNextPage!: boolean;
  @Field(() => Boolean, { description: 'Whether newer rows come before.' }) hasPreviousPage!: boolean;
  @Field(() => String, { nullable: true, description: 'Of the first edge; null where there is none.' })
  startCursor!: string | null;
  @Field(() => String, { nullable: true, description: 'Of the last edge; null where there is none.' })
  endCursor!: string | null;
}

@ObjectType({ description: 'A row in a connection.' })
export class BookRowEdge {
  @Field(() => String, { description: 'Names the place of the row: for `after` and `before`.' }) cursor!: string;
  @Field(() => BookRow, { description: 'The row.' }) node!: BookRow;
}

@ObjectType({ description: 'Rows of a book, newest first, page by page.' })
export class BookRowConnection {
  @Field(() => [BookRowEdge], { description: 'The rows of this page.' }) edges!: BookRowEdge[];
  @Field(() => PageInfo, { description: 'What lies beyond it.' }) pageInfo!: PageInfo;
}

@ArgsType()
export class ConnectionArguments {
  @Field(() => Int, { nullable: true, description: 'Rows from the beginning on, which is the newest: 1 to 200, 50.' })
  first?: number | null;
  @Field(() => String, { nullable: true, description: 'Rows behind this cursor, which are older.' })
  after?: string | null;
  @Field(() => Int, { nullable: true, description: 'Rows up to the end, in place of `first`: 1 to 200.' })
  last?: number | null;
  @Field(() => String, { nullable: true, description: 'Rows ahead of this cursor, which are newer.' })
  before?: string | null;
  @Field(() => BookRowFilter, { nullable: true, description: 'Which rows; all where it is left out.' })
  filter?: BookRowFilter | null;
}

/** So many edges as either argument says. */
export const CONNECTION = Directive(
  '@listSize(assumedSize: 50, slicingArguments: ["first", "last"], sizedFields: ["edges"], requireOneSlicingArgument: false)',
);
