import { Directive, Field, ObjectType } from 'type-graphql';
import { limits } from '../../../schema/limits.ts';
import { BookRow } from '../ledger/row.entity.ts';

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

/** So many edges as either argument says. */
export const CONNECTION = Directive(
  `@listSize(assumedSize: ${limits.book_page_rows_default}, slicingArguments: ["first", "last"], sizedFields: ["edges"], requireOneSlicingArgument: false)`,
);
