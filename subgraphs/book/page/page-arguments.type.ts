import type { z } from 'zod';
import { toCamelKeys } from '../../../schema/camel.ts';
import { BookPageRequest, pageRows, RowFilterRequest } from '../../../schema/requests/book.ts';
import { type Arguments, inputType, readRequest } from '../../graph-type.ts';
import type { PageQuery, RowFilter } from './row-scope.ts';

inputType(
  'BookRowFilter',
  'Filter of the rows of a book: rows that match every member. A member that is left out does not restrict the rows.',
  RowFilterRequest,
);

/**
 * Requested page: 50 rows by default, at most 200.
 * @throws Refusal invalid_request
 */
export function pageQuery(args: Arguments): PageQuery {
  const { limit, filter, ...page } = readRequest(BookPageRequest, args);
  return { ...page, limit: pageRows(limit), filter: filter && rowFilter(filter) };
}

/** Filter with the property names of rows, and with its times as dates. */
export function rowFilter({ from, to, ...named }: z.output<typeof RowFilterRequest>): RowFilter {
  return {
    ...(toCamelKeys(named) as Omit<RowFilter, 'from' | 'to'>),
    from: from === undefined ? null : new Date(from),
    to: to === undefined ? null : new Date(to),
  };
}
