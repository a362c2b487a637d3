import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { RawJson } from '../../schema/json-text.ts';
import type { Database } from '../database.ts';
import { fieldSql, type NullOmissions, preparedIfFew, selectedFields, type Writing, writtenText } from '../json-sql.ts';

/* Lists of the board that the statement of their page serialises, for callers that take parts of a response as text. */

type Selection = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'rootValue'>;

/** By the field of a page in a document, because a repeated document is the same object. */
const texts = new WeakMap<FieldNode, string | null>();

/**
 * An SQL expression for one item of the list `name` of a page. Null if text is not accepted, if the list is not selected, or if it is
 * selected under several names: then each name has its own statement.
 */
export function itemOfPage(writing: Writing, name: string, { fieldNodes, fragments, rootValue }: Selection) {
  const [node] = fieldNodes;
  if (!node || rootValue === undefined) return null;
  const known = texts.get(node);
  if (known !== undefined) return known;
  const [list, ...others] = [...selectedFields(fieldNodes, fragments)].filter(([, [it]]) => it?.name.value === name);
  const once = list && others.length === 0;
  const text = once ? fieldSql(writing, { fieldNodes: list[1], fragments }, rootValue as NullOmissions, list[0]) : null;
  texts.set(node, text);
  return text;
}

/** The same at the list itself. */
export function itemOfList(writing: Writing, info: GraphQLResolveInfo): string {
  return fieldSql(writing, info, info.rootValue as NullOmissions, String(info.path.key));
}

/**
 * At most as many rows as the parameter `limit` says. For a parameter alone Postgres assumes a tenth of the table: it then plans every page
 * anew for its own limit, which takes longer than reading it (0.47 instead of 0.24 ms). No limit exceeds the constant `rows_max`, for which
 * one plan is kept.
 */
export function limitedRows(ordered: string, rows_max: number, limit: string): string {
  return `select * from (${ordered} limit ${rows_max}) bounded limit ${limit}`;
}

interface PageWriting {
  /** SQL expression over the row `r`. */
  readonly item: string;
  /** Column by which the page is ordered. */
  readonly id: string;
  readonly order: 'asc' | 'desc';
  /** Parameter with the number of rows that are read: one more than is shown. */
  readonly rows: string;
}

/** Columns of a page over its rows `r`. `items` is null if there are none. */
export function pageColumns({ item, id, order, rows }: PageWriting): string {
  const by = `order by r.${id} ${order}`;
  return `'['||array_to_string((array_agg(${item} ${by}))[:${rows} - 1], ',')||']' as items,
    case count(*) when ${rows} then (array_agg(r.${id} ${by}))[${rows} - 1] end as next`;
}

type Statement = ReturnType<typeof preparedIfFew>;
/** Statements by the name of what they read, then by the selected fields. */
const statements = new Map<string, Map<string, Statement>>();

/** The statement that writes `item` over what `name` reads. It is made once: its text is longer than many a page. */
export function pageStatement(name: string, item: string, write: () => string): Statement {
  const known = statements.get(name) ?? new Map<string, Statement>();
  const found = known.get(item);
  if (found) return found;
  const statement = preparedIfFew(write());
  // Only named statements are kept, and they are few.
  if (statement.name) statements.set(name, known.set(item, statement));
  return statement;
}

/** A list as text, and the id behind which the next page begins. */
interface WrittenItems {
  readonly items: RawJson;
  readonly next: string | null;
}

/** Reads the row of a page with its `pageColumns`. Null if the statement has none. */
export async function readPage<Beside extends object = object>(
  { query }: Pick<Database, 'query'>,
  statement: Statement,
  values: unknown[],
): Promise<(WrittenItems & Beside) | null> {
  const [found] = await query<{ readonly items: string | null } & Omit<WrittenItems, 'items'> & Beside>({
    ...statement,
    values,
  });
  return found ? { ...found, items: writtenText(found.items ?? '[]') } : null;
}
