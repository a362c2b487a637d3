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
import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { graphName, memberShape, namedMember, shapeMembers } from '../schema/noun-shape.ts';
import { parsedSupergraph, SUPERGRAPH_FILE } from '../schema/supergraph.ts';

/** A root field and the members that are selected. */
export interface OperationField {
  /** Name of the operation in metrics and logs. */
  readonly name: string;
  readonly field: string;
  /** Shape of the answer. Its members are the aliases on the wire, in this order. */
  readonly shows: z.core.$ZodType;
}

/**
 * The operation for a root field with the selected members of an answer. Arguments and types are those of the supergraph. An argument that
 * is not among the variables of a request is left out.
 * @throws Error if the graph has no such field, or an object has no such member
 */
export function fieldOperation({ name, field, shows }: OperationField): DocumentNode {
  const [operation, definition] = rootField(field);
  const root: FieldNode = {
    ...fieldNode('answer', field),
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
        name: nameNode(name),
        variableDefinitions: (definition.arguments ?? []).map(variableOf),
        selectionSet: { kind: Kind.SELECTION_SET, selections: [root] },
      },
    ],
  };
}

const objects = new Map<string, ReadonlyMap<string, FieldDefinitionNode>>();
const inputs = new Map<string, ReadonlyMap<string, InputValueDefinitionNode>>();
for (const definition of parsedSupergraph(readFileSync(SUPERGRAPH_FILE, 'utf8')).definitions) {
  if (definition.kind === Kind.OBJECT_TYPE_DEFINITION) objects.set(definition.name.value, byName(definition.fields));
  if (definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
    inputs.set(definition.name.value, byName(definition.fields));
}

function byName<D extends { readonly name: NameNode }>(fields: readonly D[] = []): ReadonlyMap<string, D> {
  return new Map(fields.map(field => [field.name.value, field]));
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

/** An argument with a default may be left out, even if its type is non-null. */
function variableOf({ name, type, defaultValue }: InputValueDefinitionNode): VariableDefinitionNode {
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name },
    type: defaultValue && type.kind === Kind.NON_NULL_TYPE ? type.type : type,
  };
}

/** One part of a request (its path, query or body) and its schema. */
export interface RequestPart {
  readonly schema: z.core.$ZodType;
  readonly values: object;
}

/**
 * The variables of an operation: the members of a request that are arguments, by their names on the graph. An argument of an input type
 * that is not itself a member is built from the members that are its fields. An absent member gives no variable; a null member does.
 */
export function operationVariables(document: DocumentNode, request: readonly RequestPart[]): JsonObject {
  // The object has no prototype, because `__proto__` is a possible name of a member.
  const members = Object.assign(Object.create(null), ...request.map(graphMembers)) as JsonObject;
  const variables: Record<string, Json> = {};
  for (const { variable, type } of variablesOf(document)) {
    const name = variable.name.value;
    // If an input has a field of the same name as its argument, the member is the field.
    const is_field = inputs.get(namedType(type))?.has(name) ?? false;
    const value = name in members && !is_field ? members[name] : entriesIn(members, type);
    if (value !== undefined) variables[name] = value;
  }
  return variables;
}

function variablesOf({ definitions }: DocumentNode): readonly VariableDefinitionNode[] {
  return definitions.flatMap(definition =>
    definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
  );
}

/** The members of an input. Undefined if it is optional and has none, or if the type is no input. */
function entriesIn(members: JsonObject, type: TypeNode): JsonObject | undefined {
  const fields = inputs.get(namedType(type));
  if (!fields) return undefined;
  const entries = Object.entries(members).filter(([name]) => fields.has(name));
  return entries.length > 0 || type.kind === Kind.NON_NULL_TYPE ? Object.fromEntries(entries) : undefined;
}

/** Members by their names on the graph. Members without a schema, and JSON of the caller, keep their spelling. */
function graphMembers({ schema, values }: RequestPart): JsonObject {
  const shapes = shapeMembers(schema);
  const members = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    members.map(([member, value]) => {
      const known = namedMember(shapes, member);
      if (known === null) return [member, value];
      const items = Array.isArray(value) && known.list;
      const inner = (item: Json) =>
        isJsonObject(item) && !known.meta.scalar ? graphMembers({ schema: known.inner, values: item }) : item;
      return [graphName(member, known), items ? value.map(inner) : inner(value)];
    }),
  );
}

/** Selects the members of a shape as fields of that type. Scalars and enums have no selection, whatever JSON they contain. */
export function selectionOf(
  shape: z.core.$ZodType,
  type: string,
  where = type,
): { readonly selectionSet?: SelectionSetNode } {
  const fields = objects.get(type);
  if (!fields) return {};
  const members = Object.entries(shapeMembers(shape));
  if (members.length === 0) throw new Error(`${where}: no member of ${type} is named`);
  const selections = members.map(([member, inner]) => {
    const known = memberShape(inner);
    const name = graphName(member, known);
    const definition = fields.get(name);
    if (!definition) throw new Error(`${where}: ${type} has no field ${name}`);
    const shows = known.meta.shows ?? z.globalRegistry.get(known.inner)?.shows;
    return {
      ...fieldNode(member, name),
      ...selectionOf(
        shows instanceof z.core.$ZodType ? shows : inner,
        namedType(definition.type),
        `${where}.${member}`,
      ),
    };
  });
  return { selectionSet: { kind: Kind.SELECTION_SET, selections } };
}

function fieldNode(alias: string, name: string): FieldNode {
  return { kind: Kind.FIELD, ...(alias !== name && { alias: nameNode(alias) }), name: nameNode(name) };
}

const nameNode = (value: string): NameNode => ({ kind: Kind.NAME, value });

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}
