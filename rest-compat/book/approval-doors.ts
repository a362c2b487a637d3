import { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import {
  ApprovalAnswerRequest,
  ApprovalPath,
  ApprovalsBefore,
  ApprovalToken,
  LinkAnswerRequest,
} from '../../schema/requests/approval.ts';
import { ApprovalNoun, ApprovalsNoun } from '../../schema/session/approval.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor, pageDoor } from '../door.ts';
import { HTML } from '../receipt/page/layout.ts';
import { linkPage, ownerPage } from './approval-pages/pages.ts';
import { AgentPath } from './doors.ts';

/** The token is in a header of its own, which logs do not show. In the link it is behind the #, which browsers do not send. */
const LinkHeaders = z.object({ 'x-svc-approval': ApprovalToken });

const OF_BOOK = '/v1/agents/{agent_id}/book/approvals';
const LINK = '/v1/approvals/{approval_id}';

/** The page is the same for every client, and useless to a program. */
const pageColumns = {
  tool: { none: 'for_people' },
  methods: ['GET'],
  crawled: false,
  tags: ['book'],
  media: HTML,
  is_constant: true,
  response: z.string(),
} as const;

/** Calls that need the approval of a person, and the endpoints that answer them. */
export const approvalDoors = [
  documentDoor({
    name: 'list_approvals',
    tool: { daily: true },
    methods: ['GET'],
    path: OF_BOOK,
    summary: 'List the calls that the book refused until they are approved, with the decisions',
    tags: ['book'],
    possession: 'required',
    field: 'approvals',
    params: AgentPath,
    query: ApprovalsBefore,
    response: ApprovalsNoun,
  }),
  documentDoor({
    name: 'answer_approval',
    idempotent: true,
    methods: ['POST'],
    path: `${OF_BOOK}/{approval_id}`,
    summary: "Approve or deny a call by a signature of the agent's wallet; a session cannot replace it",
    tags: ['book'],
    // Signatures of contract wallets may be long.
    body_bytes_max: 2 * limits.small_request_bytes_max,
    field: 'answerApproval',
    params: AgentPath.extend(ApprovalPath.shape),
    body: ApprovalAnswerRequest,
    response: ApprovalNoun,
    errors: ['control_proof_invalid', 'forbidden', 'not_found', 'approval_closed', 'book_damaged', 'chain_unavailable'],
  }),
  pageDoor({
    ...pageColumns,
    name: 'get_approvals_page',
    path: '/approvals',
    summary: "Page on which the owner of a book approves or denies calls with the agent's wallet",
    headers: ownerPage.headers,
    page: ({ port }) => ownerPage.textAt(port.base_url),
  }),
  pageDoor({
    ...pageColumns,
    name: 'get_approve_page',
    path: '/approve',
    summary: 'Page of an approval link that was sent to a webhook',
    headers: linkPage.headers,
    page: ({ port }) => linkPage.textAt(port.base_url),
  }),
  documentDoor({
    name: 'get_linked_approval',
    tool: { none: 'needs_secret' },
    methods: ['GET'],
    path: LINK,
    summary: 'Get the approval request of a link that was sent to a webhook',
    tags: ['book'],
    field: 'linkedApproval',
    params: ApprovalPath,
    headers: LinkHeaders,
    variables: ({ params, headers }) => ({ approvalId: params.approval_id, token: headers['x-svc-approval'] }),
    response: ApprovalNoun,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'answer_linked_approval',
    tool: { none: 'needs_secret' },
    methods: ['POST'],
    path: LINK,
    summary: 'Approve or deny a call by the link that was sent to a webhook, once',
    tags: ['book'],
    field: 'answerLinkedApproval',
    params: ApprovalPath,
    headers: LinkHeaders,
    body: LinkAnswerRequest,
    variables: ({ params, headers, body }) => ({
      approvalId: params.approval_id,
      token: headers['x-svc-approval'],
      decision: body.decision,
    }),
    response: ApprovalNoun,
    errors: ['forbidden', 'not_found', 'approval_closed', 'book_damaged'],
  }),
] as const;

nameComponents({ ApprovalRequest: ApprovalNoun, Approvals: ApprovalsNoun });
