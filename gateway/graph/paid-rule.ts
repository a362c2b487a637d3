import type { Schema } from '@apollo/federation-internals';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { Refusal } from '../../schema/errors.ts';

/** Names of the root fields that cost money, with their price in atomic USDC. */
export type PaidFields = ReadonlyMap<string, string>;

const ROOTS = ['mutation', 'subscription'] as const;

/** Reads `@paid(price:)` off the supergraph. @throws where it marks a query: reading is free by construction. */
export function paidFields(supergraph: Schema): PaidFields {
  const prices = new Map<string, string>();
  for (const root of ROOTS) {
    for (const field of supergraph.schemaDefinition.rootType(root)?.fields() ?? []) {
      const [paid] = field.appliedDirectives.filter(directive => directive.name === 'paid');
      if (paid) prices.set(field.name, String(paid.arguments().price));
    }
  }
  const marks = supergraph.directive('paid')?.applications().size ?? 0;
  if (marks !== prices.size) throw new Error('@paid may mark fields of Mutation and Subscription only');
  return prices;
}

/** Whether the operation has a paid root field, fragments looked into. */
export function isPaid(operation: OperationDefinitionNode, fragments: Fragments, paid: PaidFields): boolean {
  return paidField(operation, fragments, paid) !== null;
}

/** Coordinate of the operation's paid root field; null where it has none. */
export function paidField(operation: OperationDefinitionNode, fragments: Fragments, paid: PaidFields): string | null {
  if (operation.operation === 'query') return null;
  const field = rootFields(operation.selectionSet, fragments).find(({ name }) => paid.has(name.value));
  return field ? `${operation.operation === 'mutation' ? 'Mutation' : 'Subscription'}.${field.name.value}` : null;
}

/**
 * One payment buys one field: an operation with a paid field has exactly that root field, once.
 * Otherwise one signature would be asked to pay two effects, or a free field would ride on the answer's replay.
 */
export function paidFieldStandsAlone(paid: PaidFields): ValidationRule {
  return (context: ValidationContext) => ({
    OperationDefinition(operation) {
      const fragments: Fragments = name => context.getFragment(name) ?? undefined;
      if (!isPaid(operation, fragments, paid)) return;
      if (rootFields(operation.selectionSet, fragments).length === 1) return;
      context.reportError(
        new Refusal('invalid_request', { detail: 'A paid field must be the only root field of its operation.' }),
      );
    },
  });
}

export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = document.definitions.filter(definition => definition.kind === Kind.FRAGMENT_DEFINITION);
  return name => fragments.find(fragment => fragment.name.value === name);
}

export type Fragments = (name: string) => FragmentDefinitionNode | undefined;

function rootFields(selection: SelectionSetNode, fragments: Fragments, seen = new Set<string>()): FieldNode[] {
  return selection.selections.flatMap(node => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.INLINE_FRAGMENT) return rootFields(node.selectionSet, fragments, seen);
    const name = node.name.value;
    const fragment = fragments(name);
    // Each fragment once: the same one again selects nothing new, and nested twos would grow as 2^n.
    if (!fragment || seen.has(name)) return [];
    seen.add(name);
    return rootFields(fragment.selectionSet, fragments, seen);
  });
}
