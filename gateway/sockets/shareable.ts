import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parseType,
  print,
  separateOperations,
  visit,
} from 'graphql';
import type { Graph } from '../graph/open-graph.ts';
import type { Operation } from '../graph/source.ts';
import type { LiveField } from '../graph/supergraph.ts';

/** A subscription in a normal form that equal subscriptions share. The start position is a variable that this service sets. */
export interface Shareable {
  readonly text: string;
  readonly operationName: string | null;
  /** The caller's variables, except those that the normal form does not use. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Position of the last event that this caller has. Null for new events only. */
  readonly after: number | null;
  /** Response name of the event. */
  readonly response_name: string;
  /** Member `remembered` of the field's `@live`. */
  readonly remembered: boolean;
}

/** Name of the variable for the start position. `POSITION` is the alias under which each event has its position. */
export const AFTER = '_after';
export const POSITION = '_position';

interface Spelling {
  readonly text: string;
  readonly used: ReadonlySet<string>;
  readonly operation: OperationDefinitionNode;
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly after: string;
  readonly remembered: boolean;
}

/** Normal forms, computed once per document and operation. Null if the operation cannot be shared. */
const spellings = new WeakMap<DocumentNode, Map<string, Spelling | null>>();

/** The normal form of an operation. Null if it is not a valid subscription to a live field; it is executed separately then. */
export function shareable(graph: Graph, { document, operationName, variables }: Operation): Shareable | null {
  const known = spellings.get(document) ?? new Map<string, Spelling | null>();
  spellings.set(document, known);
  const name = operationName ?? '';
  const spelling = known.has(name) ? (known.get(name) ?? null) : spell(graph, document, name);
  known.set(name, spelling);
  if (!spelling) return null;

  const after = startOf(graph, spelling, variables);
  if (after === undefined) return null;
  const used = Object.entries(variables).filter(([variable]) => spelling.used.has(variable));
  return {
    text: spelling.text,
    operationName: spelling.operation.name?.value ?? null,
    variables: Object.fromEntries(used.sort(([one], [other]) => (one < other ? -1 : 1))),
    after,
    response_name: (spelling.node.alias ?? spelling.node.name).value,
    remembered: spelling.remembered,
  };
}

/**
 * Reads the start position as GraphQL does, from a variable, a literal or a default. Null if it is missing, undefined if it is invalid or
 * cannot be shared.
 */
function startOf(graph: Graph, { operation, node, field, after }: Spelling, variables: Operation['variables']) {
  const { coerced } = getVariableValues(graph.schema, operation.variableDefinitions ?? [], variables);
  if (!coerced) return undefined;
  try {
    const start = getArgumentValues(field, node, coerced)[after] ?? null;
    // A position that counts back from the newest event is executed separately, because only the owner has the newest position.
    return start === null || (typeof start === 'number' && start >= 0) ? start : undefined;
  } catch {
    return undefined;
  }
}

function spell(graph: Graph, document: DocumentNode, operationName: string): Spelling | null {
  const operation = getOperationAST(document, operationName || null);
  const [node, ...more] = operation?.selectionSet.selections ?? [];
  if (operation?.operation !== 'subscription' || node?.kind !== Kind.FIELD || more.length > 0) return null;
  if (node.directives?.length || operation.directives?.length) return null;
  const live = graph.live.get(node.name.value);
  const field = graph.schema.getSubscriptionType()?.getFields()[node.name.value];
  const separate = separateOperations(document)[operation.name?.value ?? ''];
  if (!live || !field || !separate) return null;
  // The added alias is removed from the response, so the document must not use the same name.
  if (responseNamesIn(separate).has(POSITION)) return null;

  const { text, used } = oneSpelling(separate, operation, node, field, live);
  try {
    // The added field may exceed the limits of a document.
    if (graph.validate(graph.parse(text)).length > 0) return null;
  } catch {
    return null;
  }
  return { text, used, operation, node, field, after: live.after, remembered: live.remembered };
}

function oneSpelling(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  live: LiveField,
): { text: string; used: ReadonlySet<string> } {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const after: ArgumentNode = {
    kind: Kind.ARGUMENT,
    name: name(live.after),
    value: { kind: Kind.VARIABLE, name: name(AFTER) },
  };
  const position: FieldNode = { kind: Kind.FIELD, alias: name(POSITION), name: name(live.position) };
  const ours: FieldNode = {
    ...node,
    arguments: [...(node.arguments ?? []).filter(argument => argument.name.value !== live.after), after],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [...(node.selectionSet?.selections ?? []), position] },
  };
  const bare: OperationDefinitionNode = {
    ...operation,
    variableDefinitions: [],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [ours] },
  };
  const rest = document.definitions.filter(definition => definition.kind === Kind.FRAGMENT_DEFINITION);
  const used = variablesIn({ kind: Kind.DOCUMENT, definitions: [bare, ...rest] });
  const type = field.args.find(argument => argument.name === live.after)?.type;
  const whole: OperationDefinitionNode = {
    ...bare,
    variableDefinitions: [
      ...(operation.variableDefinitions ?? []).filter(({ variable }) => used.has(variable.name.value)),
      {
        kind: Kind.VARIABLE_DEFINITION,
        variable: { kind: Kind.VARIABLE, name: name(AFTER) },
        type: parseType(String(type)),
      },
    ],
  };
  return { text: print({ kind: Kind.DOCUMENT, definitions: [whole, ...rest] }), used };
}

function responseNamesIn(document: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, { Field: ({ alias, name }) => void names.add((alias ?? name).value) });
  return names;
}

function variablesIn(document: DocumentNode): ReadonlySet<string> {
  const used = new Set<string>();
  visit(document, { Variable: ({ name }) => void used.add(name.value) });
  return used;
}
