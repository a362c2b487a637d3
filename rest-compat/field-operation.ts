import { readFileSync } from 'node:fs';
import {
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type InputValueDefinitionNode,
  Kind,
  type NameNode,
  OperationTypeNode,
  type SelectionSetNode,
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql';
import { z } from 'zod';
import { camel } from '../schema/camel.ts';
import { parsedSupergraph, SUPERGRAPH_FILE } from '../schema/supergraph.ts';

/** What an endpoint runs: one root field, and what it shows of it. */
export interface RunField {
  /** Of the operation; it stands in metrics and logs. */
  readonly name: string;
  readonly field: string;
  /** The answer's shape: its members are the aliases on the wire, in this order. */
  readonly shows: z.core.$ZodType;
}

/**
 * The operation that runs a root field and selects the members of an answer. Arguments and types are the supergraph's; an argument
 * that is not among the variables of a request is left out.
 * @throws Error where the graph has no such field, or an object has no such member
 */
export function fieldOperation({ name, field, shows }: RunField): DocumentNode {
  const [operation, definition] = rootField(field);
  const root: FieldNode = {
    ...selected('answer', field),
    arguments: (definition.arguments ?? []).map(argument => ({
      kind: Kind.ARGUMENT,
      name: argument.name,
      value: { kind: Kind.VARIABLE, name: argument.name },
    })),
    ...selectionOf(shows, namedType(definition.type), name),
  };
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation,
        name: named(name),
        variableDefinitions: (definition.arguments ?? []).map(variableOf),
        selectionSet: { kind: Kind.SELECTION_SET, selections: [root] },
      },
    ],
  };
}

type Fields = ReadonlyMap<string, FieldDefinitionNode>;

const objects = new Map<string, Fields>();
for (const definition of parsedSupergraph(readFileSync(SUPERGRAPH_FILE, 'utf8')).definitions) {
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
  objects.set(definition.name.value, new Map((definition.fields ?? []).map(field => [field.name.value, field])));
}

const roots = [
  ['Query', OperationTypeNode.QUERY],
  ['Mutation', OperationTypeNode.MUTATION],
  ['Subscription', OperationTypeNode.SUBSCRIPTION],
] as const;

function rootField(name: string): readonly [OperationTypeNode, FieldDefinitionNode] {
  for (const [type, operation] of roots) {
    const definition = objects.get(type)?.get(name);
    if (definition) return [operation, definition];
  }
  throw new Error(`the graph has no root field ${name}`);
}

/** An argument with a default may be left out, whatever its type says. */
function variableOf({ name, type, defaultValue }: InputValueDefinitionNode): VariableDefinitionNode {
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name },
    type: defaultValue && type.kind === Kind.NON_NULL_TYPE ? type.type : type,
  };
}

/** The members of a shape as fields of that type. Of a scalar or an enum nothing is selected, whatever its JSON holds. */
export function selectionOf(
  shape: z.core.$ZodType,
  type: string,
  where = type,
): { readonly selectionSet?: SelectionSetNode } {
  const fields = objects.get(type);
  if (!fields) return {};
  const members = membersOf(shape);
  if (members.size === 0) throw new Error(`${where}: no member of ${type} is named`);
  const selections = [...members].map(([member, inner]) => {
    const { graph, shows } = metaOf(inner);
    const name = graph ?? camel(member);
    const definition = fields.get(name);
    if (!definition) throw new Error(`${where}: ${type} has no field ${name}`);
    return {
      ...selected(member, name),
      ...selectionOf(shows ?? inner, namedType(definition.type), `${where}.${member}`),
    };
  });
  return { selectionSet: { kind: Kind.SELECTION_SET, selections } };
}

type Members = ReadonlyMap<string, z.core.$ZodType>;

/** Members of the object that a shape is, lists and null aside; of alternatives all that any of them has. */
function membersOf(shape: z.core.$ZodType): Members {
  if (shape instanceof z.ZodUnion) return new Map(shape.options.flatMap(option => [...membersOf(option)]));
  if (shape instanceof z.ZodObject) return new Map(Object.entries(shape.shape));
  const inner = innerOf(shape);
  return inner ? membersOf(inner) : new Map();
}

/** What of a member is said of it or of what it wraps. */
function metaOf(shape: z.core.$ZodType): { readonly graph?: string; readonly shows?: z.core.$ZodType } {
  const { graph, shows } = z.globalRegistry.get(shape) ?? {};
  if (shows instanceof z.core.$ZodType) return { shows, ...(graph !== undefined && { graph }) };
  if (graph !== undefined) return { graph };
  const inner = innerOf(shape);
  return inner ? metaOf(inner) : {};
}

function innerOf(shape: z.core.$ZodType): z.core.$ZodType | null {
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional) return shape.unwrap();
  if (shape instanceof z.ZodArray) return shape.element;
  return null;
}

function selected(alias: string, name: string): FieldNode {
  return { kind: Kind.FIELD, ...(alias !== name && { alias: named(alias) }), name: named(name) };
}

const named = (value: string): NameNode => ({ kind: Kind.NAME, value });

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}
