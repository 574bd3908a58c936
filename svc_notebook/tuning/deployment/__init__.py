"""Configurations and records between services: clones, deployments, configurations in files."""

from __future__ import annotations

from svc_notebook.tuning.deployment import configuration_files
from svc_notebook.tuning.deployment.clone import PARTS, Clone, CloneRun, IfCloneExists, Part
from svc_notebook.tuning.deployment.configuration import Replicas
from svc_notebook.tuning.deployment.configuration_files import ConfigurationDrift, write_diff
from svc_notebook.tuning.deployment.deploy import DeployRun
from svc_notebook.tuning.deployment.index_files import (
    CRAWLER_SUFFIX,
    assign_folders,
    folder_name,
    list_folders,
    name_file_of,
    read_text,
)
from svc_notebook.tuning.deployment.plan import Deployment, DeploymentPlan, PlanFile, read_plan_file
from svc_notebook.tuning.deployment.record_transfer import RecordChoice
from svc_notebook.tuning.deployment.running_writes import describe_interruptions

__all__ = [
    "CRAWLER_SUFFIX",
    "PARTS",
    "Clone",
    "CloneRun",
    "ConfigurationDrift",
    "DeployRun",
    "Deployment",
    "DeploymentPlan",
    "IfCloneExists",
    "Part",
    "PlanFile",
    "RecordChoice",
    "Replicas",
    "assign_folders",
    "configuration_files",
    "describe_interruptions",
    "folder_name",
    "list_folders",
    "name_file_of",
    "read_plan_file",
    "read_text",
    "write_diff",
]
