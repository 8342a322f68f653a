// Our declarations of CUPTI's structures lie as those of the toolkit's headers do. Compiled only.
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <stddef.h>
#include <stdint.h>

#define WG_CUDA_ABI_H  // cuda.h declares the same
#include "gpu/times/cupti.h"
#include "gpu/times/cupti_stalls.h"

#define SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define FIELD(ours, a, theirs, b) \
  _Static_assert(offsetof(ours, a) == offsetof(theirs, b), #ours " " #a)

FIELD(CuptiKernel, start, CUpti_ActivityKernel10, start);
FIELD(CuptiKernel, context, CUpti_ActivityKernel10, contextId);
FIELD(CuptiKernel, stream, CUpti_ActivityKernel10, streamId);
FIELD(CuptiKernel, grid, CUpti_ActivityKernel10, gridX);
FIELD(CuptiKernel, block, CUpti_ActivityKernel10, blockX);
FIELD(CuptiKernel, queued, CUpti_ActivityKernel10, queued);
FIELD(CuptiKernel, submitted, CUpti_ActivityKernel10, submitted);
FIELD(CuptiKernel, graph_node, CUpti_ActivityKernel10, graphNodeId);
FIELD(CuptiCopy, bytes, CUpti_ActivityMemcpy6, bytes);
FIELD(CuptiCopy, start, CUpti_ActivityMemcpy6, start);
FIELD(CuptiCopy, context, CUpti_ActivityMemcpy6, contextId);
FIELD(CuptiCopy, stream, CUpti_ActivityMemcpy6, streamId);
FIELD(CuptiCopy, bytes, CUpti_ActivityMemset4, bytes);
FIELD(CuptiCopy, start, CUpti_ActivityMemset4, start);
FIELD(CuptiCopy, context, CUpti_ActivityMemset4, contextId);
FIELD(CuptiCopy, stream, CUpti_ActivityMemset4, streamId);
SIZE(CuptiReasonSamples, CUpti_PCSamplingStallReason);
SIZE(CuptiPlace, CUpti_PCSamplingPCData);
FIELD(CuptiPlace, name, CUpti_PCSamplingPCData, functionName);
FIELD(CuptiPlace, reasons, CUpti_PCSamplingPCData, stallReason);
SIZE(CuptiSamples, CUpti_PCSamplingData);
FIELD(CuptiSamples, places, CUpti_PCSamplingData, pPcData);
SIZE(CuptiSetting, CUpti_PCSamplingConfigurationInfo);
FIELD(CuptiSetting, reasons, CUpti_PCSamplingConfigurationInfo, attributeData.stallReasonData);
SIZE(CuptiSettings, CUpti_PCSamplingConfigurationInfoParams);
SIZE(CuptiTake, CUpti_PCSamplingGetDataParams);
SIZE(CuptiReasonCount, CUpti_PCSamplingGetNumStallReasonsParams);
SIZE(CuptiReasonNames, CUpti_PCSamplingGetStallReasonsParams);
FIELD(CuptiPlace, code, CUpti_PCSamplingPCData, cubinCrc);
FIELD(CuptiPlace, offset, CUpti_PCSamplingPCData, pcOffset);
FIELD(CuptiPlace, function, CUpti_PCSamplingPCData, functionIndex);
SIZE(CuptiCrc, CUpti_GetCubinCrcParams);
FIELD(CuptiCrc, crc, CUpti_GetCubinCrcParams, cubinCrc);
SIZE(CuptiLine, CUpti_GetSassToSourceCorrelationParams);
FIELD(CuptiLine, bytes, CUpti_GetSassToSourceCorrelationParams, cubinSize);
FIELD(CuptiLine, offset, CUpti_GetSassToSourceCorrelationParams, pcOffset);
FIELD(CuptiLine, folder, CUpti_GetSassToSourceCorrelationParams, dirName);
FIELD(CuptiResource, what, CUpti_ResourceData, resourceDescriptor);
FIELD(CuptiModule, cubin, CUpti_ModuleResourceData, pCubin);
_Static_assert(CUPTI_RESOURCES == CUPTI_CB_DOMAIN_RESOURCE, "domain");
_Static_assert(CUPTI_MODULE_LOADED == CUPTI_CBID_RESOURCE_MODULE_LOADED, "id");
SIZE(CuptiOfContext, CUpti_PCSamplingEnableParams);
SIZE(CuptiOfContext, CUpti_PCSamplingDisableParams);
