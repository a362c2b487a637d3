import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  visit,
} from 'graphql';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { cancelTask, getTask, listTasks } from '../../rest-compat/faces/a2a/task-doors.ts';

/* The operation of each endpoint in a normal form, so that documents that do the same are printed alike. */

export function operationIn({ definitions }: DocumentNode): OperationDefinitionNode {
  const operation = definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('a document without an operation');
  return operation;
}

export const nameOf = (document: DocumentNode): string => operationIn(document).name?.value ?? '';

export function rootField(document: DocumentNode): FieldNode {
  const [field] = operationIn(document).selectionSet.selections;
  if (field?.kind !== Kind.FIELD) throw new Error(`${nameOf(document)} has no root field`);
  return field;
}

/** All operations, in the order of the table. */
export function operations(): string {
  const all = [...everyDoor, getTask, listTasks, cancelTask].flatMap(door =>
    door.kind === 'document' ? door.documents.map(document => `# ${door.name}\n${spelt(document)}`) : [],
  );
  return [...new Set(all)].join('\n\n');
}

const byName = <N extends { readonly name: { readonly value: string } }>(nodes: readonly N[]): N[] =>
  nodes.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));

function spelt(document: DocumentNode): string {
  const fragments = new Map(
    document.definitions.flatMap(definition =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
  const inlined: DocumentNode = visit(
    { kind: Kind.DOCUMENT, definitions: [operationIn(document)] },
    {
      SelectionSet: {
        leave: node => ({ ...node, selections: node.selections.flatMap(one => inline(one, fragments)) }),
      },
      Field: { leave: node => ({ ...node, arguments: byName(node.arguments ?? []) }) },
    },
  );
  return print(withNamedVariables(withoutRootAlias(inlined)));
}

function inline(selection: SelectionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): SelectionNode[] {
  if (selection.kind === Kind.FIELD && selection.selectionSet) {
    const selections = selection.selectionSet.selections.flatMap(one => inline(one, fragments));
    return [{ ...selection, selectionSet: { kind: Kind.SELECTION_SET, selections } }];
  }
  if (selection.kind !== Kind.FRAGMENT_SPREAD) return [selection];
  const fragment = fragments.get(selection.name.value);
  return (fragment?.selectionSet.selections ?? []).flatMap(one => inline(one, fragments));
}

/** Removes the alias of the root field, because the REST layer chooses it freely. The endpoint's answer shows the field's content. */
function withoutRootAlias(document: DocumentNode): DocumentNode {
  const root = rootField(document);
  return visit(document, { Field: node => (node === root ? { ...node, alias: undefined } : undefined) });
}

/** Names each variable like the argument of the root field to which it is passed. */
function withNamedVariables(document: DocumentNode): DocumentNode {
  const passed = (argument: ArgumentNode) =>
    argument.value.kind === Kind.VARIABLE ? [[argument.value.name.value, argument.name.value] as const] : [];
  const names = new Map((rootField(document).arguments ?? []).flatMap(passed));
  return visit(document, {
    Variable: node => ({ ...node, name: { ...node.name, value: names.get(node.name.value) ?? node.name.value } }),
    OperationDefinition: {
      leave: node => ({
        ...node,
        variableDefinitions: (node.variableDefinitions ?? []).toSorted((one, other) =>
          one.variable.name.value < other.variable.name.value ? -1 : 1,
        ),
      }),
    },
  });
}
