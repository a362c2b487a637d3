import type { Contest } from './contest.ts';
import { a2aPaidCall } from './contests/a2a-call.ts';
import { append } from './contests/append.ts';
import { boardGrowth, boardList } from './contests/board-list.ts';
import { exportContest } from './contests/export.ts';
import { fanOut } from './contests/fan-out.ts';
import {
  forgedPayment,
  loadUnderConnections,
  loadUnderForgeries,
  loadUnderOpenapi,
  loadUnderPages,
  repeatedForgery,
} from './contests/forgeries.ts';
import { growth } from './contests/growth.ts';
import { mcpPage, mcpPaidCall } from './contests/mcp-call.ts';
import { pageInProcess, pageRemote } from './contests/page-graphql.ts';
import { pageByRest } from './contests/page-rest.ts';
import { callByHttpFacilitator, callVerifiedOnBothSides, paidCallContest } from './contests/paid-call.ts';
import { proxyByKey, proxyByPayment, streamByPayment } from './contests/proxy.ts';
import { settlements } from './contests/settlements.ts';
import { tiles } from './contests/tiles.ts';
import { unpaid } from './contests/unpaid.ts';
import { verification } from './contests/verification.ts';

/** All contests of the table, in its order. */
export const contests: readonly Contest[] = [
  paidCallContest,
  callByHttpFacilitator,
  callVerifiedOnBothSides,
  proxyByPayment,
  proxyByKey,
  streamByPayment,
  append,
  fanOut,
  pageByRest,
  pageInProcess,
  pageRemote,
  boardList,
  boardGrowth,
  mcpPaidCall,
  mcpPage,
  a2aPaidCall,
  settlements,
  unpaid,
  forgedPayment,
  repeatedForgery,
  loadUnderForgeries,
  loadUnderConnections,
  loadUnderOpenapi,
  loadUnderPages,
  growth,
  exportContest,
  tiles,
  verification,
];
