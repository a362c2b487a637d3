import type { OperationContext } from '@apollo/gateway/dist/operationContext.js';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import type { OperationDefinitionNode } from 'graphql';
import type { Source } from './source.ts';

/** How one operation is run. `direct`: one subgraph answers the caller's own document, nothing is to be joined or reshaped. */
export type Planned =
  | { readonly kind: 'direct'; readonly operation: OperationDefinitionNode; readonly source: Source }
  | {
      readonly kind: 'planned';
      readonly operation: OperationDefinitionNode;
      readonly plan: QueryPlan;
      readonly scope: OperationContext;
    }
  | {
      readonly kind: 'events';
      readonly operation: OperationDefinitionNode;
      readonly source: Source;
      readonly primary: FetchNode;
      /** The primary's place is taken by the event itself, under this name. */
      readonly plan: QueryPlan;
      readonly scope: OperationContext;
    };

/** The name under which an event takes the part of a subgraph. No subgraph can be called so. */
export const EVENT_SOURCE = '(event)';
