import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  getNamedType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql';
import { limits } from '../../schema/limits.ts';

/** Those that came with the request; `most` and `least` stand for whatever may come. */
export type Variables = Readonly<Record<string, unknown>> | 'most' | 'least';

/** How many objects a list holds: a bound, or as many rows as the field around it is asked for by its `limit`. */
export type ListSize = number | 'page';

/** Every list of objects in the public graph, by its coordinate. */
export const listSizes: Readonly<Record<string, ListSize>> = {
  'Book.entries': 'page',
  'Query.boardPosts': limits.board_page_posts_max,
  'Query.models': 20 + limits.router_models_max,
  'ChatCompletion.choices': 1,
  'ChatCompletionChunk.choices': 1,
  'ChatMessage.toolCalls': limits.tool_calls_max,
  'ChatDelta.toolCalls': limits.tool_calls_max,
  /** What is said and, at most, so many calls. */
  'ModelResponse.output': 1 + limits.tool_calls_max,
  'ResponseItem.content': 1,
  'ImageGeneration.data': 1,
  '__Schema.types': 50,
};

/** Of a list that the table does not know. The schema's own (fields of a type, arguments of a field) are short. */
const UNKNOWN = 20;
const OF_THE_SCHEMA = 2;

export function sizeOf(parent: GraphQLCompositeType, field: GraphQLField<unknown, unknown>): ListSize {
  const type = isNonNullType(field.type) ? field.type.ofType : field.type;
  if (!isListType(type) || !isCompositeType(getNamedType(type))) return 1;
  return listSizes[`${parent.name}.${field.name}`] ?? (isIntrospectionType(parent) ? OF_THE_SCHEMA : UNKNOWN);
}

/** Rows of a page within this field: its `limit`, where it takes one, within what the door allows. */
export function rowsAsked(
  node: FieldNode,
  field: GraphQLField<unknown, unknown> | undefined,
  variables: Variables,
): number {
  if (!field?.args.some(({ name }) => name === 'limit')) return limits.book_page_rows_default;
  const given = node.arguments?.find(({ name }) => name.value === 'limit');
  return given ? within(limitIn(given.value, variables)) : limits.book_page_rows_default;
}

function within(rows: unknown): number {
  if (rows === null) return limits.book_page_rows_default;
  // What is no number is refused by its type; what is out of range is clamped, as the page is.
  return typeof rows === 'number' ? Math.min(Math.max(rows, 1), limits.book_page_rows_max) : limits.book_page_rows_max;
}

function limitIn(value: ValueNode, variables: Variables): unknown {
  if (value.kind === Kind.INT) return Number(value.value);
  if (value.kind === Kind.NULL) return null;
  if (value.kind !== Kind.VARIABLE || variables === 'most') return undefined;
  if (variables === 'least') return 1;
  const name = value.name.value;
  // Where it is left out its default counts, which may be anything.
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
